"""A scheduler for Celery that runs on N replicas: one lease, every instant decided once, events that fan out.

Where is what, in the order of a fire's path:

==============================================  ==============================================
how a schedule is written, and its options      ``schedule``, ``binding`` (Celery's side)
where a cron field is checked                   ``timing.spec``
what a user sets, and what is allowed           ``settings``
which instants are due, what becomes of each    ``plan``
one turn: plan, claim, publish, commit          ``engine.turn``
who holds the lease, and where it is renewed    ``election.holding``, ``store/renew.lua``
which of two versions goes first                ``election.precedence``
where an instant is decided                     ``store/claim.lua``
how a fire becomes a message                    ``publisher``
where a duplicate is dropped                    ``tasks.base``, ``store/start.lua``
how an event reaches its listeners              ``tasks.fanout``
what was decided, held against the schedule     ``audit``
==============================================  ==============================================
"""

from typing import TYPE_CHECKING, Any

from celery_leased_beat import errors
from celery_leased_beat.version import __version__

if TYPE_CHECKING:
    from celery_leased_beat.binding import Events, Schedule
    from celery_leased_beat.events import Envelope, event
    from celery_leased_beat.fires import Fire
    from celery_leased_beat.runner import Runner
    from celery_leased_beat.scheduler import Scheduler
    from celery_leased_beat.tasks import LeasedTask, current_fire
    from celery_leased_beat.timing import Cron, Every, daily_at, every

__all__ = [
    "Cron",
    "Envelope",
    "Events",
    "Every",
    "Fire",
    "LeasedTask",
    "Runner",
    "Schedule",
    "Scheduler",
    "__version__",
    "current_fire",
    "daily_at",
    "errors",
    "event",
    "every",
]

#: Where the names are. They are imported when they are asked for: pytest loads ``pytest_plugin`` in every run of every
#: project, and a module that writes a schedule needs no beat.
_HOMES = {
    "Cron": "timing",
    "Envelope": "events",
    "Events": "binding",
    "Every": "timing",
    "Fire": "fires",
    "LeasedTask": "tasks",
    "Runner": "runner",
    "Schedule": "binding",
    "Scheduler": "scheduler",
    "current_fire": "tasks",
    "daily_at": "timing",
    "event": "events",
    "every": "timing",
}

if not TYPE_CHECKING:  # a type checker would take it for a promise that any name is there

    def __getattr__(name: str) -> Any:
        from importlib import import_module

        if name in _HOMES:
            return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
