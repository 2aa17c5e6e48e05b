"""When the digests are due; in the zone of the project."""

from datetime import timedelta

from celery_leased_beat import Schedule
from marketing.events import DigestDue


def register(schedule: Schedule) -> None:
    schedule.daily_at("06:30", DigestDue())
    schedule.every(timedelta(seconds=10), DigestDue("vip"), name="digest for the impatient")
