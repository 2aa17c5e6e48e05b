"""A listener as it is written: checked where it stands, and then a record."""

from collections.abc import Callable, Mapping
from typing import Any

from celery_leased_beat.errors import EventError, ScheduleError
from celery_leased_beat.events import Envelope, Listener, event_name, is_name
from celery_leased_beat.schedule.handlers import handler_name, takes_context
from celery_leased_beat.schedule.options import LISTENER, Options, read_options


def listener_options(event: type[Any], given: Mapping[str, Any]) -> Options:
    """Return the checked options of a listener of ``event``, before its handler is known."""
    if not isinstance(event, type):
        raise EventError(f"a listener listens to a class, and {event!r} is none; write @events.listener(TheEvent)")
    event_name(event)
    options = read_options(LISTENER, given)
    if options.name is not None:
        _check_name(options.name)
    return options


def build_listener(event: type[Any], handler: Callable[..., Any], options: Options) -> Listener:
    """Return the listener that ``handler`` is. Its name is its function's, unless the options have one.

    Raises ``ScheduleError`` where the handler cannot be called with the event, or has no name to be known by.
    """
    takes_context(handler, Envelope, 1)
    name = options.name or handler_name(handler)
    if not is_name(name):
        raise ScheduleError(f'the listener {handler!r} has no name to be known by; give it one: name="..."')
    return Listener(str(name), event, handler, options.task, options.message)


def _check_name(name: str) -> None:
    if not is_name(name):
        raise ScheduleError(f"name={name!r}: the name of a listener is letters, digits, '_', '.' and '-'")
