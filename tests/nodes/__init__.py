"""The nodes of the integration tests: what pytest-celery runs in containers, as processes of this machine."""
