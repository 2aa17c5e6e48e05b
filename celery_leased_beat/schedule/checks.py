"""What the value of each option may be. A check returns the value as it is kept; ValueError says what is allowed."""

import json
import math
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import timedelta
from typing import Any

from celery_leased_beat.timing import to_zone

Check = Callable[[Any], Any]

#: The header in which this package keeps its own data, see ``headers``.
HEADER = "leased_beat"


def _text(value: Any) -> str:
    if not isinstance(value, str) or not value:
        raise ValueError("a text that is not empty")
    return value


def _flag(value: Any) -> bool:
    if not isinstance(value, bool):
        raise ValueError("True or False")
    return value


def _whole_number(highest: float, allowed: str) -> Check:
    def check(value: Any) -> int:
        if type(value) is not int or not 0 <= value <= highest:
            raise ValueError(allowed)
        return value

    return check


def _duration(value: Any) -> timedelta:
    """Zero or more; a number is seconds."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        with suppress(ValueError, OverflowError):  # no number, or beyond what a timedelta can have
            value = timedelta(seconds=value)
    if not isinstance(value, timedelta) or value < timedelta(0):
        raise ValueError("a timedelta or a number of seconds, not negative")
    return value


def _grace(value: Any) -> timedelta | None:
    return None if value is None else _duration(value)


def _as_policy_has_it(value: Any) -> Any:
    return value


def _seconds(value: Any) -> float:
    """A duration as JSON carries it: a whole number where it is one."""
    seconds = _duration(value).total_seconds()
    return int(seconds) if seconds.is_integer() else seconds


def _seconds_above_zero(value: Any) -> float:
    try:
        seconds = _seconds(value)
    except ValueError:
        seconds = 0
    if seconds == 0:
        raise ValueError("a timedelta or a number of seconds above zero")
    return seconds


def _headers(value: Any) -> dict[str, Any]:
    allowed = "a dict of names and values that JSON can carry"
    if not isinstance(value, Mapping) or not all(isinstance(name, str) for name in value):
        raise ValueError(allowed)
    if HEADER in value:
        raise ValueError(f"other headers than {HEADER!r}, which this package sets itself")
    try:
        plain: dict[str, Any] = json.loads(json.dumps(dict(value), allow_nan=False))
    except (TypeError, ValueError):
        raise ValueError(allowed) from None
    return plain


CHECKS: Mapping[str, Check] = {
    "queue": _text,
    "routing_key": _text,
    "exchange": _text,
    "priority": _whole_number(255, "a whole number from 0 to 255"),
    "headers": _headers,
    "expires": _seconds_above_zero,
    "countdown": _seconds,
    "max_retries": _whole_number(math.inf, "a whole number from 0"),
    "acks_late": _flag,
    "reject_on_worker_lost": _flag,
    "timeout": _seconds_above_zero,
    "soft_time_limit": _seconds_above_zero,
    "time_limit": _seconds_above_zero,
    "timezone": to_zone,
    "catch_up": _as_policy_has_it,
    "grace": _grace,
    "name": _text,
}
