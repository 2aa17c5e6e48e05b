"""A module that adds one job to a schedule."""

from celery_leased_beat.schedule import ScheduleBuilder


def register(schedule: ScheduleBuilder) -> None:
    schedule.job("plain", "0 3 * * *", lambda: None)
