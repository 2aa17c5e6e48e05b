"""Objects of production code that rest between two programs, each known by a number: equal ones by the same."""

import copy
from collections import deque
from collections.abc import Hashable, Mapping
from dataclasses import fields, is_dataclass
from datetime import datetime, timedelta
from enum import Enum
from typing import Any

from kombu import Connection

from celery_leased_beat.engine.agenda import Agenda

#: What decides nothing: what was logged, and, where no entry has ``catch_up="skip"``, the times of earlier turns.
_SILENT = {"_silence", "_last_now", "_serving_since"}

_PLAIN = (str, int, datetime, timedelta, Enum, type(None))


class Kept:
    """Keeps objects of one kind. ``shared`` are collaborators, which are no part of an object's state.

    Where no time passes in the model, a time of the host's clock counts as there or not there; ``timed`` ones count.
    """

    def __init__(self, *shared: object, timed: bool = False) -> None:
        self._timed = timed
        self._shared = {id(collaborator): collaborator for collaborator in shared}
        self._objects: list[Any] = []
        self._numbers: dict[Hashable, int] = {}

    def keep(self, kept: Any) -> int:
        """Return the number of ``kept``, which nobody may change any more."""
        state = self._state(kept)
        if state not in self._numbers:
            self._numbers[state] = len(self._objects)
            self._objects.append(kept)
        return self._numbers[state]

    def copy(self, number: int) -> Any:
        """Return a copy to work with, with the same collaborators."""
        return copy.deepcopy(self._objects[number], dict(self._shared))

    def get(self, number: int) -> Any:
        return self._objects[number]

    def _state(self, value: Any) -> Hashable:
        if id(value) in self._shared:
            return "shared"
        if isinstance(value, float | Connection):
            return value if self._timed else "there is one"
        if isinstance(value, _PLAIN):
            return value
        if isinstance(value, Agenda):
            return tuple(sorted((when, repr(self._state(item))) for when, _, item in value._heap))
        if isinstance(value, Mapping):
            return tuple(sorted((repr(self._state(key)), self._state(item)) for key, item in value.items()))
        if isinstance(value, tuple | list | deque):
            return tuple(map(self._state, value))
        return (
            type(value).__name__,
            *(self._state(getattr(value, name)) for name in _attributes(value) if name not in _SILENT),
        )


def _attributes(value: Any) -> list[str]:
    if is_dataclass(value):
        return [field.name for field in fields(value)]
    return sorted(getattr(value, "__dict__", None) or type(value).__slots__)
