"""All that one replica serves: the app's Schedule, and what its ``beat_schedule`` has."""

import logging
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import timedelta

from celery import Celery

from celery_leased_beat.binding.periodic import CLEANUP, Problem, periodic_entries, starting_deadline
from celery_leased_beat.errors import DuplicateNameError
from celery_leased_beat.schedule import Entry, ScheduleBuilder, TaskTarget
from celery_leased_beat.settings import Settings
from celery_leased_beat.timing import Cron

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Served:
    """The entries by name, their timings in their zones; what of ``beat_schedule`` cannot be served, and why.

    ``unknown`` are the tasks that this process has not registered, each with the entries that send it.
    """

    entries: Mapping[str, Entry]
    problems: tuple[Problem, ...]
    unknown: Mapping[str, tuple[str, ...]]

    @property
    def empty(self) -> bool:
        """Whether there is nothing to serve: Celery's own clean-up of results is no reason to hold a lease."""
        return not self.entries.keys() - {CLEANUP}

    def count(self) -> str:
        """Tell how many entries there are; Celery's clean-up, which it adds by itself, apart."""
        text = str(len(self.entries.keys() - {CLEANUP}))
        if CLEANUP in self.entries:
            text += f", and {CLEANUP}"
        return text + (f", {len(self.problems)} more cannot be served" if self.problems else "")

    def report(self) -> None:
        """Write to the log what is wrong, an entry or a task at a time."""
        for problem in self.problems:
            logger.error("the entry %r of beat_schedule is not served, the others are: %s", problem.entry, problem.why)
        for task, entries in self.unknown.items():
            logger.warning(
                "the task %s of %s is not registered in this process: it is sent by its name, to where task_routes say",
                task,
                ", ".join(map(repr, entries)),
            )


def served(app: Celery, schedule: ScheduleBuilder, settings: Settings) -> Served:
    """Put together what is to be served. Touches no server; finalizes the app.

    Raises ``ScheduleError`` for a job without a handler, ``DuplicateNameError`` where the Schedule and
    ``beat_schedule`` have an entry of one name, ``SettingsError``.
    """
    schedule.check_complete()
    periodic, deadline = periodic_entries(app), starting_deadline(app)
    ours = {name: _with_deadline(entry, deadline) for name, entry in schedule.entries.items()}
    for name in ours.keys() & periodic.entries.keys() - {CLEANUP}:
        raise DuplicateNameError(f"beat_schedule and the Schedule both have an entry {name!r}; give one another name")
    entries = {name: entry.resolved(settings.timezone) for name, entry in {**periodic.entries, **ours}.items()}
    return Served(entries, periodic.problems, _unknown_tasks(app, entries.values()))


def _with_deadline(entry: Entry, deadline: timedelta | None) -> Entry:
    if deadline is None or entry.own_grace or not isinstance(entry.timing, Cron):
        return entry
    return replace(entry, policy=replace(entry.policy, grace=deadline))


def _unknown_tasks(app: Celery, entries: Iterable[Entry]) -> Mapping[str, tuple[str, ...]]:
    unknown: dict[str, list[str]] = defaultdict(list)
    for entry in entries:
        if isinstance(entry.target, TaskTarget) and entry.task not in app.tasks:
            unknown[entry.task].append(entry.name)
    return {task: tuple(names) for task, names in unknown.items()}
