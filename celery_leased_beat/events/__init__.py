"""Events: their names, their payloads, their envelopes and who listens to them. No Celery here."""

from celery_leased_beat.events.codec import decode, encode
from celery_leased_beat.events.envelope import Envelope
from celery_leased_beat.events.listeners import Listener, Listeners
from celery_leased_beat.events.names import (
    dispatch_task,
    event,
    event_name,
    is_name,
    is_our_task,
    job_task,
    listener_task,
    trigger_task,
)

__all__ = [
    "Envelope",
    "Listener",
    "Listeners",
    "decode",
    "dispatch_task",
    "encode",
    "event",
    "event_name",
    "is_name",
    "is_our_task",
    "job_task",
    "listener_task",
    "trigger_task",
]
