"""Modules that compose into one schedule: each has a ``register(schedule)`` or a ``register(schedule, deps)``."""

import inspect
from importlib import import_module
from types import ModuleType
from typing import Any

from celery_leased_beat.errors import ScheduleError

_SHAPES = "def register(schedule): or def register(schedule, deps):"


def to_module(module: ModuleType | str) -> ModuleType:
    """Return the module of that dotted name; a module is returned as it is. Raises ``ScheduleError``."""
    if isinstance(module, ModuleType):
        return module
    if not isinstance(module, str) or not module or module.startswith("."):
        raise ScheduleError(f"{module!r} cannot be included; give a module or its full dotted name")
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{module}.".startswith(f"{error.name}."):
            raise
        raise ScheduleError(f"{module!r} cannot be included: {error}") from error


def register(module: ModuleType, schedule: Any, deps: Any) -> None:
    """Call the module's ``register``. ``deps`` that can be called are called first, where they are wanted.

    Raises ``ScheduleError`` where there is no ``register`` that takes the schedule, or it wants deps and got None.
    """
    function = getattr(module, "register", None)
    if not callable(function):
        raise ScheduleError(f"{module.__name__} cannot be included, it has no register; write {_SHAPES}")
    takes_schedule, takes_deps = _takes(function, 1), _takes(function, 2)
    if takes_deps and deps is not None:
        function(schedule, deps() if callable(deps) else deps)
    elif takes_schedule:
        function(schedule)
    elif takes_deps:
        raise ScheduleError(f"{module.__name__}.register wants deps; give them: include({module.__name__}, deps)")
    else:
        raise ScheduleError(f"{module.__name__}.register cannot be called with the schedule; write {_SHAPES}")


def _takes(function: Any, arguments: int) -> bool:
    try:
        inspect.signature(function).bind(*range(arguments))
    except TypeError:
        return False
    return not inspect.iscoroutinefunction(function)
