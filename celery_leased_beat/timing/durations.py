"""Durations as Go writes them."""

import re
from datetime import timedelta

import durationpy

from celery_leased_beat.errors import SpecError

#: durationpy skips over what it does not know between two parts, and has months and years of a fixed length.
_DURATION = re.compile(r"(?:(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:ns|us|µs|μs|ms|s|m|h|d|w))+")


def to_duration(value: str | timedelta) -> timedelta:
    """Return a timedelta as it is, and read a string such as ``1h30m``, ``15s`` or ``250ms``. Raises SpecError."""
    if isinstance(value, timedelta):
        return value
    if not isinstance(value, str) or not _DURATION.fullmatch(value):
        raise SpecError(f"{value!r} is not a duration; take a timedelta or a string such as '1h30m', '15s' or '250ms'")
    try:
        return durationpy.from_str(value)
    except durationpy.DurationError:
        raise SpecError(f"the duration {value!r} is too long") from None
