"""A replica as a whole: what competes for the lease and fires while it holds it."""

from celery_leased_beat.runner.runner import Runner

__all__ = ["Runner"]
