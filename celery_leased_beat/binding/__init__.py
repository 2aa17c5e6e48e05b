"""Where schedules and listeners meet a Celery app."""

from celery_leased_beat.binding.events import Events
from celery_leased_beat.binding.lookup import schedule_for
from celery_leased_beat.binding.registry import real_app
from celery_leased_beat.binding.schedule import Schedule
from celery_leased_beat.tasks import settings_for

__all__ = ["Events", "Schedule", "real_app", "schedule_for", "settings_for"]
