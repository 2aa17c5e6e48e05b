"""The schedule as it is written in code: the fluent builder, its entries and their options. No Celery here."""

from celery_leased_beat.schedule.builder import ScheduleBuilder, Spec
from celery_leased_beat.schedule.entry import Arguments, Entry, EventTarget, JobTarget, TaskTarget
from celery_leased_beat.schedule.handlers import is_celery_task, takes_context
from celery_leased_beat.schedule.keywords import EventEntryOptions, JobOptions, ListenerOptions
from celery_leased_beat.schedule.listening import build_listener, listener_options

__all__ = [
    "Arguments",
    "Entry",
    "EventEntryOptions",
    "EventTarget",
    "JobOptions",
    "JobTarget",
    "ListenerOptions",
    "ScheduleBuilder",
    "Spec",
    "TaskTarget",
    "build_listener",
    "is_celery_task",
    "listener_options",
    "takes_context",
]
