"""A scheduler for Celery that runs on N replicas: one lease, every instant decided once, events that fan out."""

from typing import TYPE_CHECKING, Any

from celery_leased_beat import errors
from celery_leased_beat.binding import Events, Schedule
from celery_leased_beat.events import Envelope, event
from celery_leased_beat.fires import Fire
from celery_leased_beat.tasks import LeasedTask
from celery_leased_beat.timing import Cron, Every, daily_at, every

if TYPE_CHECKING:
    from celery_leased_beat.scheduler import Scheduler

__all__ = [
    "Cron",
    "Envelope",
    "Events",
    "Every",
    "Fire",
    "LeasedTask",
    "Schedule",
    "Scheduler",
    "daily_at",
    "errors",
    "event",
    "every",
]


def __getattr__(name: str) -> Any:
    """Give ``Scheduler`` to those who ask: beat, and not each module that writes a schedule."""
    if name == "Scheduler":
        from celery_leased_beat.scheduler import Scheduler

        return Scheduler
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
