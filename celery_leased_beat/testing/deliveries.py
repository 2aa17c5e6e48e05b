"""Which listeners ran, with which event and envelope."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Concatenate, Generic, TypeVar

from celery import Celery

from celery_leased_beat.binding import registry
from celery_leased_beat.events import Envelope, Listener, decode, listener_task

Event = TypeVar("Event")

#: A listener: its name, or its function.
AnyListener = str | Callable[Concatenate[Event, ...], Any]


@dataclass(frozen=True, slots=True)
class Delivery(Generic[Event]):
    """One run of a listener: its name, the event that it was called with, and the envelope of that event."""

    listener: str
    event: Event
    envelope: Envelope

    def __str__(self) -> str:
        return f"{self.listener}: {self.event!r}, {self.envelope.occurred_at.isoformat()}"


class Deliveries:
    """The runs of an app's listeners, in the order in which they began."""

    def __init__(self, app: Celery) -> None:
        self._app = app
        self._recorded: list[Delivery[Any]] = []

    def __iter__(self) -> Iterator[Delivery[Any]]:
        return iter(self._recorded)

    def record(self, listener: Listener, envelope: Envelope) -> None:
        """Note that ``listener`` is run. Raises ``PayloadError`` where the payload does not fit its event's class."""
        self._recorded.append(Delivery(listener.name, decode(listener.event, envelope.payload), envelope))

    def to(self, listener: AnyListener[Any], event: object = None) -> list[Delivery[Any]]:
        """Return the runs of ``listener``, of all or of one event. Raises ``LookupError`` where it is none."""
        bound = registry.events.get(self._app)
        known = list(bound.listeners) if bound is not None else []
        meant = {one.task for one in known if listener in (one.name, one.task, one.handler)}
        if not meant:
            names = ", ".join(one.task for one in known) or "none"
            raise LookupError(f"the app has no listener {listener!r}; it has {names}")
        runs = [one for one in self._recorded if listener_task(one.envelope.name, one.listener) in meant]
        return [one for one in runs if event is None or one.event == event]

    def told(self, listener: AnyListener[Any], event: object, found: Sequence[Delivery[Any]]) -> str:
        """Return in words how often ``listener`` ran, and what did run."""
        name = listener if isinstance(listener, str) else getattr(listener, "__qualname__", repr(listener))
        times = f"{len(found)} time{'' if len(found) == 1 else 's'}"
        ran = "".join(f"\n  {one}" for one in self._recorded) or "\n  nothing"
        return f"{name} ran {times}{'' if event is None else f' with {event!r}'}; this ran:{ran}"
