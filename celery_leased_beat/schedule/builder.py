"""The fluent schedule: when which event is dispatched and which job runs.

Each method checks what it is given and raises a ``ScheduleError`` or an ``EventError`` right there; each returns the
schedule, so that calls chain.
"""

import sys
from collections.abc import Callable, Mapping
from datetime import timedelta, tzinfo
from inspect import isroutine
from types import MappingProxyType, ModuleType
from typing import Any, Self, TypeVar, Unpack, overload

from celery_leased_beat import timing
from celery_leased_beat.errors import DuplicateNameError, EventError, OptionError, ScheduleError
from celery_leased_beat.events import encode, event_name, is_name, job_task, trigger_task
from celery_leased_beat.fires import Fire
from celery_leased_beat.schedule.entry import Entry, EventTarget, JobTarget
from celery_leased_beat.schedule.handlers import check_handler, check_runs_alone, is_celery_task, takes_context
from celery_leased_beat.schedule.keywords import EventEntryOptions, JobOptions
from celery_leased_beat.schedule.modules import register, to_module
from celery_leased_beat.schedule.options import EVENT_ENTRY, JOB, TASK_JOB, read_options
from celery_leased_beat.timing import Cron, Timing

Spec = str | timedelta | Timing
Handler = TypeVar("Handler", bound=Callable[..., Any])

_LATER: Any = object()


class ScheduleBuilder:
    """The entries of a schedule, by name, in the order in which they were written."""

    def __init__(self) -> None:
        self._entries: dict[str, Entry] = {}
        self._included: set[str] = set()
        self._pending: dict[object, str] = {}

    @property
    def entries(self) -> Mapping[str, Entry]:
        """The entries by name, read-only."""
        return MappingProxyType(self._entries)

    def cron(self, spec: Spec, event: object, **options: Unpack[EventEntryOptions]) -> Self:
        """Dispatch ``event`` whenever ``spec`` says: ``"0 3 * * *"``, ``"@daily"``, ``"@every 1h30m"``, a timing."""
        return self._add_event(timing.parse(spec), event, options)

    def every(self, interval: timedelta | str, event: object, **options: Unpack[EventEntryOptions]) -> Self:
        """Dispatch ``event`` on a grid of ``interval``, a timedelta or ``"1h30m"``, from when it was first seen."""
        return self._add_event(timing.every(interval), event, options)

    def every_minute(self, event: object, **options: Unpack[EventEntryOptions]) -> Self:
        """Dispatch ``event`` at each full minute."""
        return self._add_event(timing.parse("* * * * *"), event, options)

    def hourly(self, event: object, **options: Unpack[EventEntryOptions]) -> Self:
        """Dispatch ``event`` at each full hour."""
        return self._add_event(timing.parse("@hourly"), event, options)

    def daily(self, event: object, **options: Unpack[EventEntryOptions]) -> Self:
        """Dispatch ``event`` at midnight in the entry's zone."""
        return self._add_event(timing.parse("@daily"), event, options)

    def daily_at(self, time_of_day: str, event: object, **options: Unpack[EventEntryOptions]) -> Self:
        """Dispatch ``event`` once a day at ``"HH:MM"`` in the entry's zone."""
        return self._add_event(timing.daily_at(time_of_day), event, options)

    @overload
    def job(self, name: str, spec: Spec, handler: Callable[..., Any], **options: Unpack[JobOptions]) -> Self: ...

    @overload
    def job(self, name: str, spec: Spec, **options: Unpack[JobOptions]) -> Callable[[Handler], Handler]: ...

    def job(self, name: str, spec: Spec, handler: Any = _LATER, **options: Unpack[JobOptions]) -> Any:
        """Run ``handler`` whenever ``spec`` says; without a handler, a decorator that returns the handler.

        Until that one is applied the job is pending: ``check_complete`` refuses it.
        """
        if not is_name(name):
            raise ScheduleError(f"{name!r}: the name of a job is letters, digits, '_', '.' and '-'")
        read_options(JOB, options)
        when = timing.parse(spec)
        self._check_free(name)
        if handler is not _LATER:
            return self._add_job(name, when, handler, options)

        def decorate(handler: Handler) -> Handler:
            self._add_job(name, when, handler, options)
            self._pending.pop(decorate, None)
            return handler

        written = sys._getframe(1)
        self._pending[decorate] = f"the job {name!r} of {written.f_code.co_filename}, line {written.f_lineno},"
        return decorate

    def check_complete(self) -> None:
        """Raise ``ScheduleError`` where a job was left without its handler; called when the schedule is read."""
        for job in self._pending.values():
            raise ScheduleError(
                f"{job} has no handler: give it as the third argument, or write the call as a decorator"
                " above the function that is the handler"
            )

    def include(self, module: ModuleType | str, deps: Any = None) -> Self:
        """Let a module add its own: call its ``register(schedule)`` or ``register(schedule, deps)``, once.

        ``deps`` that can be called are called, and what they return is handed over.
        """
        found = to_module(module)
        if found.__name__ not in self._included:
            self._included.add(found.__name__)
            try:
                register(found, self, deps)
            except BaseException:
                self._included.discard(found.__name__)
                raise
        return self

    def finds(self, module: str) -> bool:
        """Return whether the module of that dotted name is included."""
        return module in self._included

    def _add_event(self, when: Timing, event: object, given: Mapping[str, Any]) -> Self:
        options = read_options(EVENT_ENTRY, given)
        if isroutine(event) or is_celery_task(event):
            raise EventError(f'{event!r} is no event; a handler runs as a job: schedule.job("a.name", spec, handler)')
        payload, event_called = encode(event), event_name(event)
        return self._add(
            Entry(
                name=options.name or event_called,
                timing=_in_zone(when, options.timezone),
                task=trigger_task(event_called),
                target=EventTarget(event_called, type(event)),
                kwargs={"payload": payload},
                options=options.message,
                policy=options.policy,
                timezone=options.timezone,
                own_grace=options.own_grace,
            )
        )

    def _add_job(self, name: str, when: Timing, handler: Callable[..., Any], given: Mapping[str, Any]) -> Self:
        check_handler(handler)
        is_task = is_celery_task(handler)
        options = read_options(TASK_JOB if is_task else JOB, given)
        if is_task:
            check_runs_alone(handler)
        else:
            takes_context(handler, Fire, 0)
        return self._add(
            Entry(
                name=name,
                timing=_in_zone(when, options.timezone),
                task=str(getattr(handler, "name", "")) if is_task else job_task(name),
                target=JobTarget(name, handler, {} if is_task else options.task),
                options=options.message,
                policy=options.policy,
                timezone=options.timezone,
                own_grace=options.own_grace,
            )
        )

    def _add(self, entry: Entry) -> Self:
        self._check_free(entry.name)
        self._entries[entry.name] = entry
        self._added(entry)
        return self

    def _added(self, entry: Entry) -> None:
        """Called after each new entry; for a schedule that is bound to an app."""

    def _check_free(self, name: str) -> None:
        taken = self._entries.get(name)
        if taken is not None:
            raise DuplicateNameError(
                f'the schedule has an entry "{name}" already ({taken.timing.key}); '
                'give this one another name (for an event: name="...")'
            )


def _in_zone(when: Timing, zone: tzinfo | None) -> Timing:
    if zone is None:
        return when
    if isinstance(when, Cron) and when.zone not in (None, zone):
        raise OptionError(f"timezone={str(zone)!r}: the timing has a zone of its own, {when.zone}; give one of the two")
    return when.resolved(zone)
