"""The listeners of an app: who gets which event, in the order in which they were written."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from celery_leased_beat.errors import DuplicateNameError
from celery_leased_beat.events.names import event_name, listener_task


@dataclass(frozen=True, slots=True)
class Listener:
    """One handler of one event.

    ``event`` is the class as which the handler gets it. ``task_options`` go to the Celery task, ``message_options``
    to each message that is sent to it.
    """

    name: str
    event: type[Any]
    handler: Callable[..., Any]
    task_options: Mapping[str, Any] = field(default_factory=dict)
    message_options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def task(self) -> str:
        """The name of its task on the wire."""
        return listener_task(event_name(self.event), self.name)


class Listeners:
    """The registry: event name -> its listeners, first written first."""

    def __init__(self) -> None:
        self._of: dict[str, dict[str, Listener]] = {}

    def add(self, listener: Listener) -> None:
        """Add a listener. Raises ``DuplicateNameError`` where its event has one of that name."""
        event = event_name(listener.event)
        named = self._of.setdefault(event, {})
        if listener.name in named:
            raise DuplicateNameError(
                f'event {event} has a listener "{listener.name}" already ({named[listener.name].handler!r}); '
                f'give {listener.handler!r} another name: name="..."'
            )
        named[listener.name] = listener

    def of(self, event: str) -> tuple[Listener, ...]:
        """Return the listeners of the event of that name; there may be none."""
        return tuple(self._of.get(event, {}).values())

    def __iter__(self) -> Iterator[Listener]:
        for named in self._of.values():
            yield from named.values()

    def __len__(self) -> int:
        return sum(map(len, self._of.values()))
