"""What is measured: each module runs by ``python -m benchmarks.<name>`` and prints its figures.

================  =====================================================================================
``plan``          400 days of missed minutes planned, and the same instants walked over
``memory``        what a fire of a scheduled event leaves in Valkey
``fires``         fires per second through claim, publish and commit, and through a loop of ``send_task``
``takeover``      the holder killed, then let go: how long nothing fires, and what is missing or doubled
================  =====================================================================================
"""
