"""The examples: ``shop`` is the one to copy and the demo, ``valkey`` starts the server that it needs."""
