"""The digests."""

from datetime import timedelta

from celery_leased_beat import Schedule
from examples.shop.events import DigestDue


def register(schedule: Schedule) -> None:
    """Everybody gets a digest in the morning; one that is hours late is worth nothing, hence ``grace``."""
    schedule.daily_at("06:30", DigestDue(), timezone="Europe/Budapest", grace=timedelta(hours=2))
    schedule.every("5s", DigestDue("vip"), name="digest for the impatient")
