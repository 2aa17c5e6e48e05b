"""What a worker runs: jobs, fan-outs and listeners, each guarded by a marker. See ``base`` for the protocol."""

from celery_leased_beat.tasks.base import HandlerTask, LeasedTask
from celery_leased_beat.tasks.clock import now
from celery_leased_beat.tasks.configuration import settings_for
from celery_leased_beat.tasks.current import current_fire
from celery_leased_beat.tasks.fanout import ListenersOf, fanout, warn_of_silence
from celery_leased_beat.tasks.job import job
from celery_leased_beat.tasks.listener import listener
from celery_leased_beat.tasks.sending import send
from celery_leased_beat.tasks.unknown import PUT_OFF, PutOffTask, put_off_unknown, send_again

__all__ = [
    "PUT_OFF",
    "HandlerTask",
    "LeasedTask",
    "ListenersOf",
    "PutOffTask",
    "current_fire",
    "fanout",
    "job",
    "listener",
    "now",
    "put_off_unknown",
    "send",
    "send_again",
    "settings_for",
    "warn_of_silence",
]
