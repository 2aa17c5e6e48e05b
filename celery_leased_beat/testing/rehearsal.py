"""A rehearsal: a schedule and its listeners in this process, at times that a test makes up.

A job's handler gets the fire that it would get. An event is encoded as it would be, and each of its listeners gets what
is read back. What a handler dispatches is taken up after it has ended, as with a broker, and it occurred at the
made-up time. Each handler runs once: it is not retried, and what it raises is raised here, after all others have run.

What a handler sends by other ways, such as ``a_task.delay()``, is Celery's own business (``task_always_eager``).
"""

from collections.abc import Callable, Mapping
from contextlib import ExitStack
from datetime import datetime
from typing import Any, Concatenate, Self, TypeVar, overload
from uuid import uuid4

from celery_leased_beat.binding import Events, Schedule
from celery_leased_beat.events import Envelope, encode, event_name
from celery_leased_beat.fires import Fire, fire_id
from celery_leased_beat.schedule import Entry
from celery_leased_beat.tasks import now
from celery_leased_beat.tasks.compat import AnyApp
from celery_leased_beat.testing.deliveries import AnyListener, Deliveries, Delivery
from celery_leased_beat.testing.instants import instants
from celery_leased_beat.testing.moments import Moment, to_instant
from celery_leased_beat.testing.running import raise_all
from celery_leased_beat.testing.stage import Stage
from celery_leased_beat.testing.subject import find_subject

Event = TypeVar("Event")


class Rehearsal:
    """Rehearses the schedule of an app, or a schedule together with the app to which it is bound.

    ``events`` are the listeners for a schedule that is bound to no app. ``first_seen`` is when intervals begin; without
    it that is the start of the time that is asked about. As a context manager it also delivers, until its end, what
    the test itself dispatches with ``events.dispatch``.
    """

    def __init__(
        self, of: AnyApp | Schedule, *, events: Events | None = None, first_seen: Moment | None = None
    ) -> None:  # fmt: skip
        self._subject = find_subject(of, events)
        self._first_seen = None if first_seen is None else to_instant(first_seen)
        self._deliveries = Deliveries(self._subject.app)
        self._stage = Stage(self._subject, self._deliveries)
        self._open = ExitStack()

    def __enter__(self) -> Self:
        self._open.enter_context(self._stage.listening())
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()

    @property
    def entries(self) -> Mapping[str, Entry]:
        """The entries that are served, those of ``beat_schedule`` too, by name; their timings have their zones."""
        return self._subject.entries

    @property
    def deliveries(self) -> tuple[Delivery[Any], ...]:
        """The runs of listeners so far, in the order in which they began."""
        return tuple(self._deliveries)

    def fires(self, since: Moment, until: Moment) -> dict[str, tuple[Fire, ...]]:
        """Return for each entry what fires from ``since`` on and before ``until``, where a holder is always there."""
        begin, end = to_instant(since), to_instant(until)
        if begin > end:
            raise ValueError(f"{since!r} is later than {until!r}")
        anchor = self._first_seen or begin
        return {
            name: tuple(self._fire(entry, instant) for instant in instants(entry.timing.anchored(anchor), begin, end))
            for name, entry in self.entries.items()
        }

    def run(self, entry: str, *, at: Moment) -> Fire:
        """Run one entry as if it were due at that time, whether it is or not, and return the fire."""
        found = self._subject.entry(entry)
        fire = self._fire(found, to_instant(at))
        with self._stage.listening():
            raise_all(self._stage.fire(found, fire))
        return fire

    def run_between(self, since: Moment, until: Moment) -> tuple[Fire, ...]:
        """Run what ``fires`` tells, one after the other in the order of time, and return those fires."""
        due = [fire for fires in self.fires(since, until).values() for fire in fires]
        due.sort(key=lambda fire: fire.instant)
        entries = self.entries
        with self._stage.listening():
            raise_all([error for fire in due for error in self._stage.fire(entries[fire.entry], fire)])
        return tuple(due)

    def dispatch(self, event: object, *, at: Moment | None = None) -> Envelope:
        """Deliver ``event`` to its listeners, as if it were dispatched at that time (now), and return its envelope."""
        occurred_at = now() if at is None else to_instant(at)
        envelope = Envelope(str(uuid4()), event_name(event), encode(event), occurred_at)
        with self._stage.listening():
            raise_all(self._stage.deliver(envelope))
        return envelope

    @overload
    def assert_ran_once(
        self, listener: Callable[Concatenate[Event, ...], Any], event: Event | None = None
    ) -> Delivery[Event]: ...

    @overload
    def assert_ran_once(self, listener: str, event: object = None) -> Delivery[Any]: ...

    def assert_ran_once(self, listener: AnyListener[Any], event: object = None) -> Delivery[Any]:
        """Return the one run of ``listener``, a name or a function; with ``event``, its one run with that event.

        Raises ``AssertionError`` where there is none or another, ``LookupError`` where there is no such listener.
        """
        __tracebackhide__ = True
        found = self._deliveries.to(listener, event)
        if len(found) != 1:
            raise AssertionError(self._deliveries.told(listener, event, found))
        return found[0]

    def assert_not_run(self, listener: AnyListener[Any], event: object = None) -> None:
        """Raise ``AssertionError`` where ``listener`` ran (with ``event``); ``LookupError`` where it is none."""
        __tracebackhide__ = True
        found = self._deliveries.to(listener, event)
        if found:
            raise AssertionError(self._deliveries.told(listener, event, found))

    def _fire(self, entry: Entry, instant: datetime) -> Fire:
        return Fire(fire_id(self._subject.settings.namespace, entry.name, instant), entry.name, instant)


class Rehearsals(ExitStack):
    """The fixture ``leased_beat``: called as a ``Rehearsal`` is made, it gives one that is open until the test ends."""

    def __call__(
        self, of: AnyApp | Schedule, *, events: Events | None = None, first_seen: Moment | None = None
    ) -> Rehearsal:  # fmt: skip
        """Return a rehearsal that delivers, from now on, what is dispatched."""
        return self.enter_context(Rehearsal(of, events=events, first_seen=first_seen))
