"""The examples: ``shop`` is the one to copy and the demo, ``valkey`` starts the server that it needs.

``django_shop`` and ``flask_shop`` are projects in folders of their own.
"""
