"""What is rehearsed: an app, with all that a replica would serve of it."""

from dataclasses import dataclass
from difflib import get_close_matches

from celery import Celery

from celery_leased_beat.binding import Events, Schedule, registry, schedule_for, settings_for
from celery_leased_beat.binding.periodic import CLEANUP
from celery_leased_beat.binding.served import Served, served
from celery_leased_beat.schedule import Entry, ScheduleBuilder
from celery_leased_beat.settings import Settings
from celery_leased_beat.tasks.compat import AnyApp

#: The namespace of ids where there is no app to have one.
NAMESPACE = "test"


@dataclass(frozen=True, slots=True)
class Subject:
    """An app, its Schedule and its settings."""

    app: Celery
    schedule: ScheduleBuilder
    settings: Settings

    @property
    def entries(self) -> dict[str, Entry]:
        """The entries by name, as they are now; Celery's own clean-up of results is none to test."""
        return {name: entry for name, entry in self._served().entries.items() if name != CLEANUP}

    def entry(self, name: str) -> Entry:
        """Return the entry of that name. Raises ``LookupError``, which says why where it is there and broken."""
        for problem in self._served().problems:
            if problem.entry == name:
                raise LookupError(f"the entry {name!r} of beat_schedule cannot be served: {problem.why}")
        entries = self.entries
        if name not in entries:
            close = get_close_matches(name, entries, n=1)
            hint = f"did you mean {close[0]!r}?" if close else f"it has {', '.join(map(repr, entries)) or 'none'}"
            raise LookupError(f"the schedule has no entry {name!r}; {hint}")
        return entries[name]

    def _served(self) -> Served:
        return served(self.app, self.schedule, self.settings)


def find_subject(of: AnyApp | Schedule, events: Events | None) -> Subject:
    """Return what belongs to an app or to a Schedule; ``events`` are those of an app that has none.

    A Schedule that is bound to no app is bound to one that is made here, in UTC. The modules of the app are imported,
    as a worker imports them. Raises ``ScheduleError`` and ``SettingsError``, as beat would.
    """
    app = (_app_of(of) or _new_app(of)) if isinstance(of, Schedule) else registry.bind(of)
    if events is not None:
        events.init_app(app)
    app.loader.import_default_modules()
    settings = settings_for(app, offline=True)
    return Subject(app, schedule_for(app, settings), settings)


def _app_of(schedule: Schedule) -> Celery | None:
    """Return the app to which ``schedule`` is bound, the last one of several."""
    apps = [app for app, bound in registry.schedules.items() if bound is schedule]
    return apps[-1] if apps else None


def _new_app(schedule: Schedule) -> Celery:
    app = Celery(NAMESPACE, broker="memory://", set_as_current=False)
    schedule.init_app(app)
    return app
