"""The options as keyword arguments: what a type checker knows of them, and which of them stand where.

The same classes are read at run time, so a checker and an error message never disagree.
"""

from collections.abc import Mapping
from datetime import timedelta, tzinfo
from typing import Any, TypedDict

from celery_leased_beat.plan import CatchUp

Seconds = timedelta | float


class MessageOptions(TypedDict, total=False):
    """Options of each message; ``expires`` and ``countdown`` count from the publish."""

    queue: str
    routing_key: str
    exchange: str
    priority: int
    headers: Mapping[str, Any]
    expires: Seconds
    countdown: Seconds


class TaskOptions(TypedDict, total=False):
    """Options of the Celery task; ``timeout`` is the soft limit, with the hard one 30 s later."""

    max_retries: int
    acks_late: bool
    reject_on_worker_lost: bool
    timeout: Seconds
    soft_time_limit: Seconds
    time_limit: Seconds


class EntryOptions(TypedDict, total=False):
    """Options of the entry: its zone, what is done with missed instants, and how late one may still fire."""

    timezone: str | tzinfo
    catch_up: CatchUp
    grace: Seconds | None


class NameOption(TypedDict, total=False):
    """A name of one's own."""

    name: str


class EventEntryOptions(MessageOptions, EntryOptions, NameOption, total=False):
    """What an event entry takes."""


class JobOptions(TaskOptions, MessageOptions, EntryOptions, total=False):
    """What a job takes. Where its handler is a Celery task, that task has the options of ``TaskOptions`` itself."""


class ListenerOptions(TaskOptions, MessageOptions, NameOption, total=False):
    """What a listener takes."""
