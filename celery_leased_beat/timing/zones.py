"""Wall time and UTC.

A zone is asked one way only, for its offset at a UTC instant: that has one answer always, while a wall time has none in
a gap and two in a repeated hour. From the offsets come the stretches of time over which the offset stands still, and
inside a stretch the way from UTC to the wall and back is an addition.

Wall times are naive datetimes, instants are aware ones in UTC; nothing else of this package sees a wall time.
"""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from difflib import get_close_matches
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple
from zoneinfo import ZoneInfo, available_timezones

from celery_leased_beat.errors import SpecError

#: The smallest step of a datetime: "just after" and "just before".
TICK = timedelta(microseconds=1)

#: The last year whose stretches are known, since ``datetime`` ends with the next one; and its last instant.
LAST_YEAR = 9998
LAST_INSTANT = datetime(LAST_YEAR + 1, 1, 1, tzinfo=UTC) - TICK

#: An offset is asked for this often, so that a change and its reversal are both seen: the two closest ones of the zone
#: data are 95 hours apart (Freetown, September 1939).
_PROBE = timedelta(days=2)

#: Changes of offset in the zone data fall on whole seconds.
_SECOND = timedelta(seconds=1)

#: Offsets lie within a day of UTC, so no wall time can be repeated after longer than this.
_REPEAT = timedelta(days=2)


class Stretch(NamedTuple):
    """A span [start, end) of UTC over which a zone's offset stands still."""

    start: datetime
    end: datetime
    offset: timedelta

    def wall(self, instant: datetime) -> datetime:
        """Return what the wall clock shows at ``instant``."""
        return instant.replace(tzinfo=None) + self.offset

    def instant(self, wall: datetime) -> datetime:
        """Return when the wall clock shows ``wall``."""
        return (wall - self.offset).replace(tzinfo=UTC)


def stretches(zone: tzinfo, start: datetime, end: datetime | None = None) -> Iterator[Stretch]:
    """Yield the stretches of [start, end) in order, the outer ones cut to it; without an end, up to LAST_YEAR."""
    last = LAST_YEAR if end is None else min(end.year, LAST_YEAR)
    for year in range(start.year, last + 1):
        for stretch in _stretches_of_year(zone, year):
            if stretch.end <= start:
                continue
            if end is not None and stretch.start >= end:
                return
            yield Stretch(
                max(stretch.start, start), stretch.end if end is None else min(stretch.end, end), stretch.offset
            )


def reached(zone: tzinfo, instant: datetime) -> datetime:
    """Return the wall time before which everything was shown, at ``instant`` or earlier, or jumped over.

    It never goes back, however ``instant`` rises: in a repeated hour it stands still. It is exclusive, so one tick
    further than what the wall clock shows at ``instant``.
    """
    return max(stretch.wall(stretch.end) for stretch in stretches(zone, instant - _REPEAT, instant + TICK))


def first_shown(zone: tzinfo, wall: datetime) -> datetime:
    """Return when the clock of ``zone`` first shows ``wall``, or jumps over it."""
    middle = wall.replace(tzinfo=UTC)
    for stretch in stretches(zone, middle - _REPEAT, middle + _REPEAT):
        if wall < stretch.wall(stretch.end):
            return max(stretch.start, stretch.instant(wall))
    raise OverflowError(f"{wall} lies beyond the calendar")


def to_utc(instant: datetime) -> datetime:
    """Return ``instant`` in UTC. A naive one is refused with a ValueError: nobody can tell which instant it is."""
    if instant.utcoffset() is None:
        raise ValueError(f"{instant!r} is naive; give a datetime with a time zone, such as datetime.now(UTC)")
    return instant.astimezone(UTC)


def to_zone(zone: str | tzinfo) -> tzinfo:
    """Return the zone of that name, or the zone itself where its name means the same on every machine.

    A zone object of another library (it has a ``key`` or a ``zone`` with its name) becomes the standard library's.
    Raises SpecError for an unknown name and for a zone without one.
    """
    if isinstance(zone, timezone):
        return zone
    name = zone if isinstance(zone, str) else getattr(zone, "key", None) or getattr(zone, "zone", None)
    if not isinstance(name, str):
        raise SpecError(f"the time zone {zone!r} has no name that means the same everywhere; give one by its name")
    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        raise SpecError(f"unknown time zone {name!r}; {_advice(name)}") from None


def _advice(name: str) -> str:
    close = get_close_matches(name, available_timezones(), n=1)
    if close:
        return f"did you mean {close[0]!r}?"
    return "take a name of the zone database such as 'Europe/Budapest' (this machine may need the package tzdata)"


@lru_cache(maxsize=4096)
def _stretches_of_year(zone: tzinfo, year: int) -> tuple[Stretch, ...]:
    opening, closing = datetime(year, 1, 1, tzinfo=UTC), datetime(year + 1, 1, 1, tzinfo=UTC)
    edges, probe = [opening], opening
    while probe < closing:
        following = min(probe + _PROBE, closing)
        edges.extend(_changes(zone, probe, following))
        probe = following
    if edges[-1] != closing:
        edges.append(closing)
    return tuple(Stretch(start, end, _offset(zone, start)) for start, end in pairwise(edges))


def _changes(zone: tzinfo, start: datetime, end: datetime) -> Iterator[datetime]:
    """Yield the instants in (start, end] at which the offset is another than before."""
    if _offset(zone, start) == _offset(zone, end):
        return
    if end - start <= _SECOND:
        yield end
        return
    middle = start + (end - start) // _SECOND // 2 * _SECOND
    yield from _changes(zone, start, middle)
    yield from _changes(zone, middle, end)


def _offset(zone: tzinfo, instant: datetime) -> timedelta:
    return instant.astimezone(zone).replace(tzinfo=UTC) - instant
