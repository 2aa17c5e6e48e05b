"""What an app has already: its ``beat_schedule``, which ``add_periodic_task`` fills too, as entries of ours.

A broken entry is a problem to report, and the others go on.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from celery import Celery
from celery.schedules import crontab

from celery_leased_beat.binding.messages import read_arguments, read_message_options, read_policy, task_name
from celery_leased_beat.binding.timings import to_timing
from celery_leased_beat.errors import LeasedBeatError, OptionError, SettingsError
from celery_leased_beat.schedule import Entry, TaskTarget

#: The clean-up of results, which Celery adds to the schedule where a backend does not expire them by itself.
CLEANUP = "celery.backend_cleanup"

#: What an entry of beat may have, and of that what is of no use here: the ledger knows better when it ran last.
_TAKEN = {"task", "schedule", "args", "kwargs", "options", "relative"}
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
    deadline = starting_deadline(app)
    entries: dict[str, Entry] = {}
    problems = []
    for name, written in _written(app).items():
        try:
            found = _cleanup(app) if written is None else written
            if found is not None:
                entries[name] = _entry(app, name, _parts(found), deadline)
        except LeasedBeatError as error:
            problems.append(Problem(name, str(error)))
        except Exception as error:  # of the user's own code, or of a backend that cannot be loaded here
            problems.append(Problem(name, f"{type(error).__name__}: {error}"))
    return Periodic(entries, tuple(problems))


def starting_deadline(app: Celery) -> timedelta | None:
    """Return ``beat_cron_starting_deadline``: how late what goes by a cron may still fire. Raises ``SettingsError``."""
    written = app.conf.beat_cron_starting_deadline
    try:
        deadline = timedelta(seconds=written) if isinstance(written, int | float) else written
    except (ValueError, OverflowError):
        deadline = written
    if deadline is not None and not (isinstance(deadline, timedelta) and deadline >= timedelta(0)):
        raise SettingsError(f"beat_cron_starting_deadline is {written!r}: seconds are wanted, or None")
    return deadline


def _written(app: Celery) -> Mapping[str, Any]:
    """Return the entries as they are written; the clean-up, where the app has none of its own, as None."""
    schedule = app.conf.beat_schedule or {}
    if not isinstance(schedule, Mapping):
        raise SettingsError(f"beat_schedule is {schedule!r}: a dict of names and entries is wanted")
    return {CLEANUP: None, **{str(name): {} if written is None else written for name, written in schedule.items()}}


def _parts(written: Any) -> Mapping[str, Any]:
    """Return what an entry says: a dict, or an entry of beat's own class, which reads as one."""
    try:
        return dict(written)
    except (TypeError, ValueError):
        raise OptionError(f"it is {written!r}: a dict is wanted, with its task and its schedule") from None


def _cleanup(app: Celery) -> Mapping[str, Any] | None:
    """Return the clean-up as beat has it, None where nothing is to be cleaned up."""
    if not app.conf.result_expires or app.backend.supports_autoexpire:
        return None
    return {"task": CLEANUP, "schedule": crontab("0", "4", "*"), "options": {"expires": 12 * 3600}}


def _entry(app: Celery, name: str, written: Mapping[str, Any], deadline: timedelta | None) -> Entry:
    unknown = written.keys() - _TAKEN - _PASSED_OVER
    if unknown:
        raise OptionError(f"it has {sorted(unknown, key=repr)}, where an entry takes {', '.join(sorted(_TAKEN))}")
    task, schedule = task_name(written.get("task")), written.get("schedule")
    options = read_message_options(app, written.get("options"))
    (args, kwargs), lazy = read_arguments(
        app, task, written.get("args"), written.get("kwargs"), options.get("serializer")
    )
    return Entry(
        name=name,
        timing=to_timing(schedule, app, relative=bool(written.get("relative"))),
        task=task,
        target=TaskTarget(task),
        args=args,
        kwargs=kwargs,
        options=options,
        policy=read_policy(written.get("options") or {}, deadline if isinstance(schedule, crontab) else None),
        lazy=lazy,
    )
