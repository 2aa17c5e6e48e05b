"""The instants of a cron spec by looking at every minute, and the changes of a zone by looking at every day.

Written apart from the code under test and after its documentation, on other ideas: a field is a question asked of a
value, not a set, and time is walked in UTC, never in wall time. It wants offsets of whole minutes: 1973 and later.
"""

from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta, tzinfo
from itertools import pairwise

MINUTE = timedelta(minutes=1)
MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
WEEKDAYS = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")


def instants(spec: str, zone: tzinfo, after: datetime, until: datetime) -> list[datetime]:
    """Every instant of ``spec`` in (after, until]."""
    minute, hour, *_ = spec.split()
    if all(text.replace(",", "").isdigit() for text in (minute, hour)):
        return list(_steady(spec, zone, after, until))
    return [instant for instant in _minutes(after, until) if _names(spec, _wall(zone, instant))]


def changes(zone: tzinfo, year: int) -> list[datetime]:
    """The minutes of a year at which the offset is another than the minute before."""
    found = []
    day = datetime(year, 1, 1, tzinfo=UTC)
    while day.year == year:
        if _wall(zone, day + timedelta(days=1)) - _wall(zone, day) != timedelta(days=1):
            minutes = list(_minutes(day - MINUTE, day + timedelta(days=1)))
            found += [now for before, now in pairwise(minutes) if _wall(zone, now) - _wall(zone, before) != MINUTE]
        day += timedelta(days=1)
    return found


def _steady(spec: str, zone: tzinfo, after: datetime, until: datetime) -> Iterator[datetime]:
    """By a clock that never goes back: an instant is a minute at which it comes to, or jumps over, a named one."""
    begin = after.replace(second=0, microsecond=0) - timedelta(days=3)
    shown = _wall(zone, begin)
    for instant in _minutes(begin, until):
        wall = _wall(zone, instant)
        if wall <= shown:
            continue
        passed = (shown + MINUTE * step for step in range(1, (wall - shown) // MINUTE + 1))
        if any(_names(spec, minute) for minute in passed) and instant > after:
            yield instant
        shown = wall


def _minutes(after: datetime, until: datetime) -> Iterator[datetime]:
    instant = after.replace(second=0, microsecond=0) + MINUTE
    while instant <= until:
        yield instant
        instant += MINUTE


def _wall(zone: tzinfo, instant: datetime) -> datetime:
    return instant.astimezone(zone).replace(tzinfo=None)


def _names(spec: str, wall: datetime) -> bool:
    minute, hour, day, month, weekday = spec.lower().split()
    return (
        _field(minute, wall.minute, 0, 60)
        and _field(hour, wall.hour, 0, 24)
        and _field(month, wall.month, 1, 12, MONTHS)
        and _day(day, weekday, wall.date())
    )


def _day(day: str, weekday: str, date: date) -> bool:
    by_day = _field(day, date.day, 1, 31)
    by_weekday = _field(weekday, date.isoweekday() % 7, 0, 7, WEEKDAYS)
    if day != "*" and weekday != "*":
        return by_day or by_weekday
    return by_day and by_weekday


def _field(text: str, value: int, first: int, size: int, names: tuple[str, ...] = ()) -> bool:
    return any(_term(term, value, first, size, names) for term in text.split(","))


def _term(term: str, value: int, first: int, size: int, names: tuple[str, ...]) -> bool:
    span, _, step = term.partition("/")
    low_text, _, high_text = span.partition("-")
    if span == "*":
        low, length = first, size - 1
    else:
        low = _number(low_text, first, names)
        high = _number(high_text, first, names) if high_text else first + size - 1 if step else low
        length = high - low if high >= low else high - low + size
    way = (value - low) % size
    return way <= length and way % int(step or 1) == 0


def _number(text: str, first: int, names: tuple[str, ...]) -> int:
    return first + names.index(text) if text in names else int(text)
