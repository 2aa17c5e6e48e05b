"""Which minutes of the wall clock a cron spec names, whatever the zone.

The next one is croniter's answer; how many there are is calendar arithmetic, so that it costs the same for a day and
for a year. All times here are naive: the wall's.
"""

from bisect import bisect_left
from calendar import monthrange
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime
from functools import lru_cache
from threading import get_ident

from croniter import croniter

from celery_leased_beat.errors import SpecError
from celery_leased_beat.timing.spec import Fields, read_fields
from celery_leased_beat.timing.zones import TICK

#: croniter gives up after so many years without a match. The longest wait is 29 February's over a century: 8 years,
#: and 40 where it has to be a certain day of the week too.
_LONGEST_WAIT, _LONGEST_WAIT_FOR_BOTH = 8, 40

_ORIGIN = datetime(2000, 1, 1)


@dataclass(frozen=True, slots=True, eq=False)
class Pattern:
    """A checked cron spec. ``read_pattern`` gives one for each text, so patterns compare by identity and hash fast."""

    fields: Fields
    both_days: bool = False

    @property
    def key(self) -> str:
        """The spec in its normal form: days and months as numbers, times as written, since how they are counts."""
        minute, hour, *dates = self.fields
        both = ["both-days"] if self.both_days and self._both_restrict else []
        return " ".join([minute.text, hour.text, *(field.numbers for field in dates), *both])

    @property
    def fixed(self) -> bool:
        """Whether it names times by numbers alone, and so does not follow the wall clock through a DST change."""
        return self.fields.minute.fixed and self.fields.hour.fixed

    @property
    def per_day(self) -> int:
        """How many minutes it names in a day on which it runs at all."""
        return len(self.fields.minute.values) * len(self.fields.hour.values)

    @property
    def _both_restrict(self) -> bool:
        return not self.fields.day.full and not self.fields.weekday.full

    @property
    def either_day(self) -> bool:
        """Whether both day fields restrict, and one of the two is enough."""
        return self._both_restrict and not self.both_days

    def first_from(self, wall: datetime) -> datetime | None:
        """Return the first minute it names at ``wall`` or later, None where the calendar has none."""
        before = (wall - TICK).replace(second=0, microsecond=0)
        try:
            return _croniter(self, get_ident()).get_next(datetime, start_time=before)
        except (OverflowError, ValueError):  # beyond the last year, or croniter's own word for never
            return None

    def count(self, start: datetime, end: datetime) -> int:
        """Return how many minutes it names in [start, end)."""
        if end <= start:
            return 0
        days = sum(len(_days(self, month)) for month in _months(start, end))
        days += bisect_left(_days(self, end), end.day) - bisect_left(_days(self, start), start.day)
        return days * self.per_day + self._before(end) - self._before(start)

    def _before(self, wall: datetime) -> int:
        """Count the minutes of the day of ``wall`` that lie before it."""
        if wall.day not in _days(self, wall):
            return 0
        minutes, hours = self.fields.minute.values, self.fields.hour.values
        begun = wall.minute + (1 if wall.second or wall.microsecond else 0)
        whole = bisect_left(hours, wall.hour) * len(minutes)
        return whole + (bisect_left(minutes, begun) if wall.hour in hours else 0)


@lru_cache(maxsize=4096)
def read_pattern(spec: str, both_days: bool = False) -> Pattern:
    """Read a spec, once for each text. Raises SpecError where it cannot be read or where no date matches it."""
    pattern = Pattern(read_fields(spec, both_days=both_days), both_days)
    if pattern.first_from(_ORIGIN) is None:
        day, month = pattern.fields.day.numbers, pattern.fields.month.numbers
        raise SpecError(f"{spec!r}: no date ever matches it; there is no day {day} in month {month}")
    return pattern


@lru_cache(maxsize=4096)
def _croniter(pattern: Pattern, thread: int) -> "croniter[datetime]":
    """Return the thread's own croniter: one keeps its position in itself, so it cannot be shared."""
    text = " ".join(field.numbers for field in pattern.fields)
    years = _LONGEST_WAIT_FOR_BOTH if pattern.both_days else _LONGEST_WAIT
    return croniter(text, _ORIGIN, ret_type=datetime, day_or=not pattern.both_days, max_years_between_matches=years)


@lru_cache(maxsize=65536)
def _days_of_month(pattern: Pattern, year: int, month: int) -> tuple[int, ...]:
    """Return the days of a month on which the pattern runs."""
    _, _, day, months, weekday = pattern.fields
    if month not in months.values:
        return ()
    first_weekday, length = monthrange(year, month)
    days = []
    for number in range(1, length + 1):
        by_day = number in day.values
        by_weekday = (first_weekday + number) % 7 in weekday.values
        if (by_day or by_weekday) if pattern.either_day else (by_day and by_weekday):
            days.append(number)
    return tuple(days)


def _days(pattern: Pattern, day: date) -> tuple[int, ...]:
    return _days_of_month(pattern, day.year, day.month)


def _months(start: date, end: date) -> Iterator[date]:
    """Yield the first day of each month from that of ``start`` to the one before that of ``end``."""
    for month in range(start.year * 12 + start.month - 1, end.year * 12 + end.month - 1):
        yield date(month // 12, month % 12 + 1, 1)
