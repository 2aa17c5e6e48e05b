"""Plain tasks, as they were."""

from celery import shared_task


@shared_task
def note(*args: object, **kwargs: object) -> None:
    """Take anything."""


@shared_task(queue="reports", priority=1, expires=7200)
def report(shop: str, *, full: bool = False) -> None:
    """Have options of its own."""
