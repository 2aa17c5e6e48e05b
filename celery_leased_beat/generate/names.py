"""Which names can be generated."""

import builtins
import keyword
import re

from celery_leased_beat.errors import ScheduleError
from celery_leased_beat.events import is_name

#: Longer ones do not fit into a line of code.
LONGEST = 50

_SNAKE = re.compile(r"[a-z][a-z0-9_]*")


def check_function_name(name: str) -> None:
    """Raise ``ScheduleError`` where ``name`` is no name for a function, as PEP 8 has them."""
    if not _SNAKE.fullmatch(name):
        close = re.sub(r"\W+|(?<=[a-z0-9])(?=[A-Z])", "_", name, flags=re.ASCII).strip("_").lower()
        hint = f", such as {close}" if _SNAKE.fullmatch(close) else ""
        raise ScheduleError(f"{name!r} is no name of a function; take small letters, digits and '_'{hint}")
    if len(name) > LONGEST:
        raise ScheduleError(f"{name!r} is too long; take at most {LONGEST} letters")
    _check_not_pythons(name)


def check_not_needed(name: str, *needed: str) -> None:
    """Raise ``ScheduleError`` where the generated code has ``name`` for something else."""
    if name in needed:
        raise ScheduleError(f"{name!r} is a name that the code itself needs; take another one")


def class_name(event: str) -> str:
    """Return the name of the class of an event: ``DigestDue`` of ``digest_due``. Raises ``ScheduleError``."""
    check_function_name(event)
    name = "".join(part[:1].upper() + part[1:] for part in event.split("_"))
    _check_not_pythons(name)
    return name


def full_name(label: str, name: str) -> str:
    """Return what a job or an event is called: ``shop.digest_due``. Raises ``ScheduleError``."""
    full = f"{label}.{name}"
    if not is_name(full):
        raise ScheduleError(f"{full!r}: the names of jobs and events are letters, digits, '_', '.' and '-'")
    return full


def _check_not_pythons(name: str) -> None:
    if keyword.iskeyword(name) or hasattr(builtins, name):
        raise ScheduleError(f"{name!r} is a name of Python's own; take another one")
