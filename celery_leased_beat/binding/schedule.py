"""``Schedule(app)``: the fluent schedule, known to an app."""

from collections.abc import Callable, Iterable
from typing import Any, Self
from weakref import WeakSet

from celery import Celery, signals

from celery_leased_beat.binding import registry
from celery_leased_beat.binding.discovery import Discovery
from celery_leased_beat.binding.events import register_trigger
from celery_leased_beat.binding.plain_beat import warn_of_plain_beat
from celery_leased_beat.errors import ScheduleError
from celery_leased_beat.schedule import Entry, EventTarget, JobTarget, ScheduleBuilder, is_celery_task
from celery_leased_beat.tasks import HandlerTask, job
from celery_leased_beat.tasks.compat import AnyApp


class Schedule(ScheduleBuilder):
    """The schedule of an app. ``Schedule()`` and ``init_app`` serve modules that load before the app."""

    def __init__(self, app: AnyApp | None = None) -> None:
        super().__init__()
        self._apps: WeakSet[Celery] = WeakSet()
        self._discoveries: list[Discovery] = []
        if app is not None:
            self.init_app(app)

    def init_app(self, app: AnyApp) -> Self:
        """Bind to ``app``. Reads no setting. Raises ``ScheduleError`` where the app has another Schedule already."""
        app = registry.bind(app)
        if registry.schedules.setdefault(app, self) is not self:
            raise ScheduleError(f"{app!r} has a Schedule already; use that one, or include(...) modules into it")
        if app not in self._apps:
            self._apps.add(app)
            for entry in self.entries.values():
                _register(app, entry)
            # Celery knows a sender by its address, which a later app may have: so the signal is checked again. Older
            # versions take one method of two objects for one receiver: so each schedule has an id of its own.
            uid = f"celery_leased_beat.schedule.{id(self)}"
            signals.import_modules.connect(self._discover, sender=app, weak=False, dispatch_uid=uid)
            signals.beat_init.connect(warn_of_plain_beat, dispatch_uid="celery_leased_beat")
        return self

    def autodiscover(
        self, packages: Iterable[str] | Callable[[], Iterable[str]] | None = None, related_name: str | None = "jobs",
        deps: Any = None,
    ) -> Self:  # fmt: skip
        """Include the module ``related_name`` of each package, when the app imports its modules.

        ``packages`` are Django's installed apps where they are not given; a callable is called then, as ``deps`` is.
        Each ``register`` is called once; a module without one is only imported.
        """
        self._discoveries.append(Discovery(packages, related_name, deps))
        return self

    def finds(self, module: str) -> bool:
        """Return whether the module of that dotted name is included, or will be when the app imports its modules."""
        discoveries = [(discovery, app) for discovery in self._discoveries for app in self._apps]
        return super().finds(module) or any(discovery.looks_for(module, app) for discovery, app in discoveries)

    def _discover(self, sender: Celery, **_: Any) -> None:
        if sender in self._apps:
            for discovery in self._discoveries:
                discovery.run(self, sender)

    def _added(self, entry: Entry) -> None:
        for app in self._apps:
            _register(app, entry)


def _register(app: Celery, entry: Entry) -> None:
    """Register the task of ``entry``; a handler that is a Celery task is registered where it was made."""
    target = entry.target
    if isinstance(target, EventTarget):
        register_trigger(app, target.name)
    elif isinstance(target, JobTarget) and not is_celery_task(target.handler):
        registry.register(
            app, entry.task, lambda: job(target.name, target.handler), HandlerTask, **target.task_options
        )  # fmt: skip
