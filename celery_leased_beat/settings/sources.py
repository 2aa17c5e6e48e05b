"""Where a setting is looked for: in the app's configuration, under each of its spellings, then in the environment."""

import re
from collections.abc import Callable, Iterable, Mapping
from difflib import get_close_matches
from typing import Any, NamedTuple

from celery_leased_beat.errors import SettingsError

#: All settings, without the prefix that they have in common.
NAMES = (
    "backend", "namespace", "lease_ttl", "timezone", "marker_ttl", "transport_options", "version", "schedule",
    "in_worker",
)  # fmt: skip
_SPELLED = re.compile(r"leased_beat_([a-z0-9_]+)|(?:CELERY_)?LEASED_BEAT_([A-Z0-9_]+)")


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
                return Found(value, _setting(name))
        text = self._environ.get(variable, "")
        return Found(text, f"{_setting(name)} (from {variable})") if text else None


def spellings(name: str) -> tuple[str, ...]:
    """Return how a setting may be written, the first that is there counts: old files of Celery's are in upper case."""
    setting = _setting(name)
    return setting, setting.upper(), f"CELERY_{setting.upper()}"


def check_names(configured: Iterable[str]) -> None:
    """Raise ``SettingsError`` for a name that is spelled as one of ours and is none: Celery would let it pass."""
    for spelled in configured:
        found = _SPELLED.fullmatch(spelled)
        name = (found[1] or found[2]).lower() if found else None
        if name is None or name in NAMES:
            continue
        close = get_close_matches(name, NAMES, n=1)
        hint = f"did you mean {_setting(close[0])}?" if close else f"there are {', '.join(map(_setting, NAMES))}"
        raise SettingsError(f"{spelled} is no setting; {hint}")


def _setting(name: str) -> str:
    return f"leased_beat_{name}"
