"""What an app has already: its ``beat_schedule``, which ``add_periodic_task`` fills too, as entries of ours.

A broken entry is a problem to report, and the others go on.
"""

import logging
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from celery import Celery
from celery.schedules import crontab

from celery_leased_beat.binding.messages import NOT_TAKEN, lazy_arguments, read_arguments, read_options, task_name
from celery_leased_beat.binding.timings import to_timing
from celery_leased_beat.errors import OptionError, SettingsError
from celery_leased_beat.plan import Policy
from celery_leased_beat.schedule import Entry, TaskTarget

logger = logging.getLogger(__name__)

#: The clean-up of results that Celery adds to the schedule where a backend does not expire them by itself.
CLEANUP = "celery.backend_cleanup"

#: What beat takes in an entry. Its own memory of the last run is no use here: the ledger knows better.
_KNOWN = {"task", "schedule", "args", "kwargs", "options", "relative"}
_PASSED_OVER = {"name", "app", "last_run_at", "total_run_count"}


@dataclass(frozen=True, slots=True)
class Problem:
    """An entry that cannot be served, and why."""

    entry: str
    why: str


@dataclass(frozen=True, slots=True)
class Periodic:
    """The plain entries of an app by name, and those that are broken."""

    entries: Mapping[str, Entry]
    problems: tuple[Problem, ...]


def periodic_entries(app: Celery) -> Periodic:
    """Read the ``beat_schedule`` of ``app``, which is finalized for it. Raises ``SettingsError``."""
    app.finalize()
    grace = starting_deadline(app)
    entries: dict[str, Entry] = {}
    problems = []
    for name, read in _written(app):
        try:
            written = read()
            if written is not None:
                entries[name] = _entry(app, name, written, grace)
        except Exception as error:  # the code of a schedule of the user's is asked too
            problems.append(Problem(name, str(error) or repr(error)))
    return Periodic(entries, tuple(problems))


def starting_deadline(app: Celery) -> timedelta | None:
    """Return ``beat_cron_starting_deadline``: how late what goes by a cron may still fire. Raises ``SettingsError``."""
    deadline = app.conf.beat_cron_starting_deadline
    if isinstance(deadline, int | float) and deadline >= 0:
        deadline = timedelta(seconds=deadline)
    if deadline is not None and not (isinstance(deadline, timedelta) and deadline >= timedelta(0)):
        raise SettingsError(f"beat_cron_starting_deadline is {deadline!r}: seconds are wanted, or None")
    return deadline


def _written(app: Celery) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Yield the name of each entry, and what gives the entry as it is written."""
    schedule = app.conf.beat_schedule or {}
    if CLEANUP not in schedule:
        yield CLEANUP, lambda: _cleanup(app)
    for name, written in schedule.items():
        yield str(name), lambda written=written: written


def _cleanup(app: Celery) -> Mapping[str, Any] | None:
    if not app.conf.result_expires or app.backend.supports_autoexpire:
        return None
    return {"task": CLEANUP, "schedule": crontab("0", "4", "*"), "options": {"expires": 12 * 3600}}


def _entry(app: Celery, name: str, written: Any, grace: timedelta | None) -> Entry:
    fields = dict(written)
    unknown = fields.keys() - _KNOWN - _PASSED_OVER
    if unknown:
        raise OptionError(f"it has {sorted(unknown)}; an entry takes {', '.join(sorted(_KNOWN))}")
    task, schedule = task_name(fields.get("task")), fields.get("schedule")
    timing = to_timing(schedule, app, relative=bool(fields.get("relative")))
    options = fields.get("options") or {}
    message = app, task, fields.get("args"), fields.get("kwargs"), options.get("serializer")
    args, kwargs = read_arguments(*message)
    _warn_of_options(name, options)
    return Entry(
        name=name,
        timing=timing,
        task=task,
        target=TaskTarget(task),
        args=args,
        kwargs=kwargs,
        options=read_options(app, options),
        policy=Policy(grace=grace if isinstance(schedule, crontab) else None),
        lazy=lazy_arguments(*message),
    )
