"""From what a user writes to a timing."""

import re
from datetime import timedelta

from celery_leased_beat.errors import SpecError
from celery_leased_beat.timing.cron import Cron
from celery_leased_beat.timing.durations import to_duration
from celery_leased_beat.timing.every import Every
from celery_leased_beat.timing.timing import Timing

_EVERY = re.compile(r"\s*@every\s+(\S+)\s*", re.IGNORECASE)
_TIME_OF_DAY = re.compile(r"([0-9]{1,2}):([0-9]{2})")


def parse(spec: str | timedelta | Timing) -> Timing:
    """Return the timing of a cron spec, a descriptor, ``@every 1h30m`` or a timedelta; a timing is returned as it is.

    Raises SpecError.
    """
    if isinstance(spec, timedelta):
        return Every(spec)
    if isinstance(spec, str):
        interval = _EVERY.fullmatch(spec)
        return every(interval[1]) if interval else Cron(spec)
    if isinstance(spec, Timing) and not isinstance(spec, type):
        return spec
    raise SpecError(f"{spec!r} is not a timing; take a cron spec, '@every 1h30m', a timedelta or every(...)")


def every(interval: timedelta | str) -> Every:
    """Return the grid of that interval, a timedelta or a Go duration such as ``1h30m``. Raises SpecError."""
    return Every(to_duration(interval))


def daily_at(time_of_day: str) -> Cron:
    """Return the timing of once a day at ``HH:MM`` on the wall. Raises SpecError."""
    match = _TIME_OF_DAY.fullmatch(time_of_day) if isinstance(time_of_day, str) else None
    if not match or int(match[1]) > 23 or int(match[2]) > 59:
        raise SpecError(f"{time_of_day!r} is not a time of day; take 'HH:MM' from '00:00' to '23:59'")
    return Cron(f"{int(match[2])} {int(match[1])} * * *")
