"""The schedules of Celery as timings of ours.

What is an interval or a crontab goes by our arithmetic: it is the same but for a change of the clocks, where Celery's
own skips or repeats (see ``timing``). A crontab keeps Celery's AND of its two day fields. Any other schedule is asked.
"""

import logging
import re
from collections.abc import Collection
from datetime import UTC, timedelta, tzinfo
from functools import cache
from typing import Any

from celery import Celery
from celery.schedules import BaseSchedule, crontab, maybe_schedule, solar
from celery.schedules import schedule as interval

from celery_leased_beat.binding.asked import Asked
from celery_leased_beat.errors import SpecError
from celery_leased_beat.tasks.configuration import named_zone
from celery_leased_beat.timing import Aligned, Cron, Every, Timing
from celery_leased_beat.timing.english import runs
from celery_leased_beat.timing.spec import KINDS, Kind, read_field

logger = logging.getLogger(__name__)

_MILLISECOND, _DAY = timedelta(milliseconds=1), timedelta(days=1)

#: django-celery-beat's crontab with a zone of its own: what it overrides only says the same in that zone.
_ONLY_ZONED = "django_celery_beat.tzcrontab.TzAwareCrontab"
#: Where an object is in memory; it is another in each process.
_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")


def to_timing(written: Any, app: Celery, *, relative: bool = False) -> Timing:
    """Return the timing of what stands as an entry's ``schedule``: a number, a timedelta, or a schedule of Celery.

    ``relative`` is the entry's own, for the first two. Raises SpecError, and what a schedule's own code raises.
    """
    if not isinstance(written, int | float | timedelta | BaseSchedule):
        raise SpecError(f"its schedule is {written!r}; give seconds, a timedelta, crontab(...) or another schedule")
    schedule: Any = maybe_schedule(_readable(written), relative, app=app)
    if isinstance(schedule, crontab) and _is_asked_as(schedule, crontab):
        return _cron(schedule)
    if isinstance(schedule, interval) and _is_asked_as(schedule, interval):
        return _interval(schedule)
    if isinstance(schedule, solar) and _is_asked_as(schedule, solar):
        # The sun knows no zone; asked in one, Celery 5.5 is an hour late on the day on which the clocks go forward.
        return Asked(schedule, UTC, _text(schedule), has_memory=False)
    return Asked(schedule, _zone(schedule), _text(schedule))


def _readable(written: Any) -> Any:
    """Return what stands as a schedule, seconds as a timedelta."""
    try:
        return timedelta(seconds=written) if isinstance(written, int | float) else written
    except (ValueError, OverflowError):
        raise SpecError(f"its schedule is {written!r}; give a number of seconds that a timedelta can have") from None


def _is_asked_as(schedule: Any, base: type[Any]) -> bool:
    """Whether ``schedule`` decides when it is due by the code of ``base`` alone."""
    kind = type(schedule)
    if f"{kind.__module__}.{kind.__qualname__}" == _ONLY_ZONED:
        return True
    deciding = ("is_due", "remaining_estimate", "remaining_delta")
    return all(getattr(kind, name, None) is getattr(base, name, None) for name in deciding)


def _interval(schedule: Any) -> Timing:
    every = schedule.run_every
    if not isinstance(every, timedelta) or every < _MILLISECOND:
        raise SpecError(f"an interval of {every!r} is not possible; give a millisecond at least")
    every = round(every / _MILLISECOND) * _MILLISECOND
    if not schedule.relative or every < timedelta(seconds=1):
        return Every(every)
    zone = _zone(schedule)
    return Cron("0 0 * * *", zone) if every // _DAY == 1 else Aligned(every, zone)


def _cron(schedule: Any) -> Cron:
    minute, hour, day, month, weekday = KINDS
    fields = (
        _times(minute, schedule._orig_minute, schedule.minute),
        _times(hour, schedule._orig_hour, schedule.hour),
        _numbers(day, schedule.day_of_month),
        _numbers(month, schedule.month_of_year),
        _numbers(weekday, schedule.day_of_week),
    )
    return Cron(" ".join(fields), _zone(schedule), both_days=True)


def _times(kind: Kind, written: Any, values: Collection[int]) -> str:
    """Return a field of times as text: what is written in numbers stays so, since that decides on daylight saving."""
    if not isinstance(written, str) or not set("*-/") & set(written):
        return ",".join(map(str, sorted(values)))
    text = written.replace(" ", "")
    try:
        if set(read_field(kind, text).values) == set(values):
            return text
    except SpecError:  # a range that wraps, which Celery allows here too
        pass
    return ",".join(f"{low}-{high}" for low, high in runs(sorted(values)))


def _numbers(kind: Kind, values: Collection[int]) -> str:
    return "*" if len(values) == kind.size else ",".join(map(str, sorted(values)))


def _zone(schedule: Any) -> tzinfo:
    """Return the zone in which Celery would have the schedule: its own, which is the app's where it has none."""
    zone = schedule.tz
    if getattr(schedule, "nowfun", None) is not None:
        now = schedule.maybe_make_aware(schedule.now())
        # Whose zone counts, that of the clock or that of the schedule, is not the same in all versions of Celery.
        zone = (schedule.remaining_delta(now)[0] if isinstance(schedule, crontab) else now).tzinfo
    try:
        return named_zone(zone)
    except SpecError as error:
        raise SpecError(f"{error}, as the app's setting `timezone`") from None


def _text(schedule: Any) -> str:
    """Return what the schedule says of itself, the same in every process."""
    text = repr(schedule)
    if _ADDRESS.search(text):
        _warn_of_address(type(schedule).__qualname__)
    return _ADDRESS.sub("", text)


@cache
def _warn_of_address(name: str) -> None:
    logger.warning(
        "%s has no __repr__ that tells its parameters: when they change, that is not seen as another timing",
        name,
    )
