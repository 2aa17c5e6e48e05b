"""The stock on the site."""

from datetime import timedelta

from celery_leased_beat import Schedule
from examples.shop.events import SyncInventory


def register(schedule: Schedule) -> None:
    """After an outage one synchronisation is enough, so the default ``catch_up="latest"`` is right."""
    schedule.every(timedelta(seconds=3), SyncInventory())
