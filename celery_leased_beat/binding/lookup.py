"""From an app to its schedule."""

import logging
from typing import Any

from celery import Celery, signals
from celery.utils.imports import import_from_cwd

from celery_leased_beat.binding import registry
from celery_leased_beat.binding.schedule import Schedule
from celery_leased_beat.errors import SettingsError
from celery_leased_beat.schedule import ScheduleBuilder
from celery_leased_beat.settings import Settings, spellings
from celery_leased_beat.tasks import settings_for

logger = logging.getLogger(__name__)


def schedule_for(app: Celery, settings: Settings | None = None) -> ScheduleBuilder:
    """Return the Schedule of ``app``: the one that is bound to it, else what ``leased_beat_schedule`` names.

    That one is bound to the app now. Without either, an empty schedule. ``settings`` are the app's, where they are
    read already. Raises ``SettingsError``.
    """
    bound = registry.schedules.get(app)
    path = (settings or settings_for(app)).schedule_path
    if path is None:
        return bound or ScheduleBuilder()
    named = _load(path)
    if bound is not None and bound is not named:
        raise SettingsError(f"leased_beat_schedule is {path!r}, but the app has another Schedule, which is bound to it")
    return named.init_app(app) if isinstance(named, Schedule) else named


def _bind_named(sender: Celery, **_: Any) -> None:
    """Bind what ``leased_beat_schedule`` names when the app imports its modules, so that workers know its tasks."""
    if any(map(sender.conf.get, spellings("schedule"))):
        try:
            schedule_for(sender, settings_for(sender, offline=True))
        except SettingsError as error:  # a beat ends by it, in one line; a worker has other tasks too
            logger.error("the schedule's tasks are not known here: %s", error)


# For all apps, since such an app need not import anything of this package: the ``celery`` command does, for ours.
signals.import_modules.connect(_bind_named, dispatch_uid="celery_leased_beat.schedule")


def _load(path: str) -> ScheduleBuilder:
    module, _, name = path.replace(":", ".").rpartition(".")
    try:
        found = getattr(import_from_cwd(module), name, None)
    except ImportError as error:
        raise SettingsError(f"leased_beat_schedule is {path!r}, which cannot be imported: {error}") from error
    if not isinstance(found, ScheduleBuilder):
        raise SettingsError(f"leased_beat_schedule is {path!r}, where {found!r} is; a Schedule is wanted")
    return found
