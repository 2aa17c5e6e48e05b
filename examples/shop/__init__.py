"""A shop, as an example to copy.

================  =====================================================================================
``app``           the Celery app, its ``Events`` and its ``Schedule``
``events``        what can happen: a class per event
``listeners``     who does what then: each is a Celery task of its own
``jobs/``         when: modules with ``register(schedule, deps)``
``deps``          what the handlers work with
``demo/``         not part of the shop: runs it on five processes, kills some, and counts what was done
================  =====================================================================================

``python -m examples.shop`` runs the demo.
"""
