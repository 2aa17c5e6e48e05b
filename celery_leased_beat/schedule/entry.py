"""An entry: one line of the schedule, checked and ready for the engine."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import tzinfo
from typing import Any

from celery_leased_beat.errors import OptionError
from celery_leased_beat.plan import Policy
from celery_leased_beat.timing import Timing

#: Positional and keyword arguments of a message.
Arguments = tuple[tuple[Any, ...], Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class EventTarget:
    """The event that an entry fires: its name and its class."""

    name: str
    event: type[Any]


@dataclass(frozen=True, slots=True)
class JobTarget:
    """The job that an entry fires: its name, its one handler and the options of its Celery task.

    ``task_options`` are empty where the handler is a Celery task, which has its own.
    """

    name: str
    handler: Callable[..., Any]
    task_options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class TaskTarget:
    """The Celery task that an entry sends as plain beat does: by its name, with arguments."""

    name: str


@dataclass(frozen=True, slots=True)
class Entry:
    """When and what: ``timing`` and ``policy`` say when, the rest says what is sent.

    ``task``, ``args``, ``kwargs`` and ``options`` are the message of each fire, in what the JSON of Celery's messages
    can carry. ``lazy`` gives the arguments of one fire in the place of ``args`` and ``kwargs``. ``timezone`` is the
    zone that was given to the entry, ``timing`` already has it. ``own_grace`` says that the policy's grace was given
    to the entry, be it None, so that the app's ``beat_cron_starting_deadline`` does not count. Raises ``OptionError``
    for a name that neither a fire's id nor the ledger could carry.
    """

    name: str
    timing: Timing
    task: str
    target: EventTarget | JobTarget | TaskTarget
    args: tuple[Any, ...] = ()
    kwargs: Mapping[str, Any] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)
    policy: Policy = field(default_factory=Policy)
    timezone: tzinfo | None = None
    own_grace: bool = False
    lazy: Callable[[], Arguments] | None = None

    def __post_init__(self) -> None:
        try:
            self.name.encode()
        except UnicodeEncodeError:
            raise OptionError(f"the name {self.name!r} is no text that UTF-8 can carry") from None

    def arguments(self) -> Arguments:
        """Return the arguments of the message of a fire that is claimed now. Raises what a lazy argument raises."""
        return self.lazy() if self.lazy is not None else (self.args, self.kwargs)

    def resolved(self, zone: tzinfo) -> "Entry":
        """Return the entry with ``zone`` for its timing, unless that has one or needs none."""
        return replace(self, timing=self.timing.resolved(zone))
