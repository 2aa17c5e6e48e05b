"""Finding the modules of a schedule, when an app imports what it includes.

They are imported as Celery imports the app and its ``include``: with the working directory on the path, which the
console script ``celery`` does not have there at other times.
"""

import logging
from collections.abc import Callable, Iterable
from typing import Any

from celery import Celery
from celery.loaders.base import find_related_module  # type: ignore[attr-defined]
from celery.utils.imports import cwd_in_path

from celery_leased_beat.errors import ScheduleError
from celery_leased_beat.schedule import ScheduleBuilder

logger = logging.getLogger(__name__)


class Discovery:
    """One call of ``autodiscover``: what to look for."""

    def __init__(
        self, packages: Iterable[str] | Callable[[], Iterable[str]] | None, related_name: str | None, deps: Any
    ) -> None:
        if isinstance(packages, str):
            raise ScheduleError(f"packages={packages!r}: give a list of names, [{packages!r}]")
        self._packages = packages
        self._related_name = related_name
        self._deps = deps

    def run(self, schedule: ScheduleBuilder, app: Celery) -> None:
        """Import the modules and let each register itself, once. An error of theirs ends the start of the command."""
        with cwd_in_path():
            for package in self._names(app):
                self._find(package, schedule)

    def _find(self, package: str, schedule: ScheduleBuilder) -> None:
        module = find_related_module(package, self._related_name)
        if module is None:
            return
        if hasattr(module, "register"):
            schedule.include(module, self._deps)
        else:
            logger.debug("%s has no register(schedule), it was only imported", module.__name__)

    def looks_for(self, module: str, app: Celery) -> bool:
        """Return whether ``run`` imports the module of that dotted name, where it is there."""
        return module in {f"{package}.{self._related_name}" for package in self._names(app)}

    def _names(self, app: Celery) -> Iterable[str]:
        if self._packages is None:
            return _installed_apps(app)
        return self._packages() if callable(self._packages) else self._packages


def _installed_apps(app: Celery) -> list[str]:
    """Return Django's installed apps, as Celery's own autodiscovery finds them."""
    fixups = [fixup for fixup in app._fixups if hasattr(fixup, "autodiscover_tasks")]  # type: ignore[attr-defined]
    if not fixups:
        raise ScheduleError("autodiscover() without packages takes Django's installed apps, and this is no Django app")
    return [package for fixup in fixups for package in fixup.autodiscover_tasks()]
