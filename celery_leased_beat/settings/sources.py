"""Where a setting is looked for: in the app's configuration, under each of its spellings, then in the environment."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from celery_leased_beat.errors import SettingsError


class Found(NamedTuple):
    """A value, and where the user wrote it."""

    value: Any
    where: str

    def error(self, allowed: str, shown: object = None) -> SettingsError:
        """Return the error that says what is allowed; ``shown`` takes the place of a value that holds a password."""
        return SettingsError(f"{self.where} is {self.value if shown is None else shown!r}: {allowed}")


class Sources:
    """``get`` returns a configured value, or None where there is none; ``environ`` is the process's environment."""

    def __init__(self, get: Callable[[str], Any], environ: Mapping[str, str]) -> None:
        self._get = get
        self._environ = environ

    def find(self, name: str, variable: str = "") -> Found | None:
        """Return what is set for ``name``, else for the ``variable`` of the environment; an empty one is not set."""
        for spelling in spellings(name):
            value = self._get(spelling)
            if value is not None:
                return Found(value, f"leased_beat_{name}")
        text = self._environ.get(variable, "")
        return Found(text, f"leased_beat_{name} (from {variable})") if text else None


def spellings(name: str) -> tuple[str, ...]:
    """Return how a setting may be written, the first that is there counts: old files of Celery's are in upper case."""
    setting = f"leased_beat_{name}"
    return setting, setting.upper(), f"CELERY_{setting.upper()}"
