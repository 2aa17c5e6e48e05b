"""What events, jobs and listeners are called, in code and on the wire.

A name is ``[A-Za-z0-9_.-]+``. It has no colon, so each task name on the wire reads back in one way only::

    schedule:<event>            the trigger that a fire enqueues
    event:<event>               the fan-out of an event that was dispatched at runtime
    listener:<event>:<listener> one listener
    job:<name>                  one job
"""

import re
from collections.abc import Callable
from dataclasses import is_dataclass
from typing import Any, TypeVar

import attrs

from celery_leased_beat.errors import EventError
from celery_leased_beat.events.models import is_model

EventClass = TypeVar("EventClass", bound=type[Any])

_NAME = re.compile(r"[A-Za-z0-9_.-]+")
_MARK = "__leased_beat_event__"
_PREFIXES = ("schedule:", "event:", "listener:", "job:")


def event(name: str) -> Callable[[EventClass], EventClass]:
    """Name a dataclass, an attrs class or a pydantic model as the event ``name``.

    The name is kept on the class and nowhere else; a subclass is no event until it is named itself.
    Raises ``EventError`` for a name or a class that cannot be used.
    """
    if not is_name(name):
        raise EventError(
            f"@event({_shown(name)}): an event's name is letters, digits, '_', '.' and '-', "
            'so write @event("shop.order_placed")'
        )

    def mark(cls: EventClass) -> EventClass:
        _check_class(name, cls)
        setattr(cls, _MARK, name)
        return cls

    return mark


def event_name(event: object) -> str:
    """Return the name of an event or of its class. Raises ``EventError`` where there is none."""
    cls = event if isinstance(event, type) else type(event)
    name = vars(cls).get(_MARK)
    if name is None:
        raise EventError(f'{cls.__qualname__} is not an event: put @event("a.name") on the class')
    return str(name)


def is_name(name: object) -> bool:
    """Return whether ``name`` can be the name of an event, a job or a listener."""
    return isinstance(name, str) and _NAME.fullmatch(name) is not None


def trigger_task(event: str) -> str:
    """Return the name of the task that a fire of ``event`` enqueues."""
    return f"schedule:{event}"


def dispatch_task(event: str) -> str:
    """Return the name of the task that fans out an ``event`` dispatched at runtime."""
    return f"event:{event}"


def listener_task(event: str, listener: str) -> str:
    """Return the name of the task that is one ``listener`` of ``event``."""
    return f"listener:{event}:{listener}"


def job_task(name: str) -> str:
    """Return the name of the task of the job ``name``."""
    return f"job:{name}"


def is_our_task(task: str) -> bool:
    """Return whether ``task`` is a name that this package makes."""
    return task.startswith(_PREFIXES)


def _check_class(name: str, cls: object) -> None:
    if not isinstance(cls, type):
        raise EventError(f'@event("{name}") names a class, and {cls!r} is none')
    if not (is_dataclass(cls) or attrs.has(cls) or is_model(cls)):
        raise EventError(
            f'@event("{name}"): {cls.__qualname__} is no dataclass, attrs class or pydantic model; '
            "@event stands above @dataclass or @define"
        )
    if _MARK in vars(cls):
        raise EventError(f'@event("{name}"): {cls.__qualname__} already is the event "{event_name(cls)}"')


def _shown(value: object) -> str:
    return value.__qualname__ if isinstance(value, type) else repr(value)
