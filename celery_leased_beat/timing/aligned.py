"""A grid whose instants are cut to the unit of its interval on the wall: what Celery calls a relative schedule.

The unit is a day where the interval has one, else an hour, a minute or a second. Each instant is the one before plus
the interval, rounded down to the unit in the zone. So every two hours from 10:17 is 12:00, 14:00, 16:00, and every
ninety minutes is every hour, since what is beyond whole units is cut off each time.
"""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta, tzinfo
from typing import NamedTuple

import durationpy

from celery_leased_beat.errors import SpecError
from celery_leased_beat.fires import from_milliseconds, to_milliseconds
from celery_leased_beat.timing.zones import LAST_INSTANT, TICK, first_shown, reached, stretches, to_utc, to_zone

_DAY, _A_MIDNIGHT = timedelta(days=1), datetime(1, 1, 1)
_UNITS = {
    _DAY: "at midnight",
    timedelta(hours=1): "on the hour",
    timedelta(minutes=1): "on the minute",
    timedelta(seconds=1): "on the second",
}


@dataclass(frozen=True, slots=True)
class Aligned:
    """The instants ``interval`` apart, each cut to the interval's unit in the zone.

    Days are counted on the calendar: an instant is a midnight, the end of the gap where there is none, the first of
    two. The anchor says where the grid begins, as that of ``Every``. Raises SpecError for an interval under a second.
    """

    interval: timedelta
    zone: tzinfo | None = None
    anchor: datetime | None = None

    def __post_init__(self) -> None:
        if self.interval < min(_UNITS):
            raise SpecError(f"an aligned interval of {self.interval!r} is not possible; take a second at least")
        if self.zone is not None:
            object.__setattr__(self, "zone", to_zone(self.zone))
        if self.anchor is not None:
            object.__setattr__(self, "anchor", from_milliseconds(to_milliseconds(to_utc(self.anchor))))

    @property
    def key(self) -> str:
        """``aligned <milliseconds> <zone>``: the grid's anchor is no part of it."""
        zone = f" {self.zone}" if self.zone is not None else ""
        return f"aligned {self.interval // timedelta(milliseconds=1)}{zone}"

    def next_after(self, instant: datetime) -> datetime | None:
        """Return the first instant of the grid later than ``instant``, None beyond the last year of the calendar."""
        grid, instant = self._grid(), to_utc(instant)
        try:
            following = grid.at(grid.passed(instant) + 1)
        except OverflowError:
            return None
        return following if following < LAST_INSTANT else None

    def count(self, after: datetime, until: datetime) -> int:
        """Return how many instants of the grid lie in (after, until]."""
        grid = self._grid()
        return max(0, grid.passed(to_utc(until)) - grid.passed(to_utc(after)))

    def resolved(self, zone: tzinfo) -> "Aligned":
        """Return itself where it has a zone, else the same grid in ``zone``."""
        return replace(self, zone=zone) if self.zone is None else self

    def anchored(self, anchor: datetime) -> "Aligned":
        """Return the grid that begins at ``anchor``."""
        return replace(self, anchor=anchor)

    def describe(self) -> str:
        """Return the timing in English, such as ``every 2h on the hour``."""
        unit = self._unit
        return f"every {durationpy.to_str(self.interval // unit * unit)} {_UNITS[unit]}"

    @property
    def _unit(self) -> timedelta:
        return next(unit for unit in _UNITS if self.interval >= unit)

    def _grid(self) -> "_Calendar | _Clock":
        if self.zone is None or self.anchor is None:
            raise ValueError(f"{self!r} needs a zone and an anchor; resolved(...) and anchored(...) give it them")
        unit = self._unit
        step = self.interval // unit * unit
        if unit == _DAY:
            first = self.anchor.astimezone(self.zone).replace(tzinfo=None) + self.interval
            return _Calendar(self.zone, first.replace(hour=0, minute=0, second=0, microsecond=0), step)
        return _Clock(self.zone, _cut(self.zone, self.anchor + self.interval, unit), step, unit)


class _Calendar(NamedTuple):
    """Midnights ``step`` (whole days) apart; ``first`` is the wall time of the first."""

    zone: tzinfo
    first: datetime
    step: timedelta

    def at(self, number: int) -> datetime:
        """Return the instant of that number, counted from 1."""
        return first_shown(self.zone, self.first + (number - 1) * self.step)

    def passed(self, instant: datetime) -> int:
        """Return how many instants are not later than ``instant``."""
        return max(0, (reached(self.zone, instant) - TICK - self.first) // self.step + 1)


class _Clock(NamedTuple):
    """Instants ``step`` apart, each cut to the ``unit``: they stay on it when the offset changes by a part of one."""

    zone: tzinfo
    first: datetime
    step: timedelta
    unit: timedelta

    def at(self, number: int) -> datetime:
        """Return the instant of that number, counted from 1."""
        return _cut(self.zone, self.first + (number - 1) * self.step, self.unit)

    def passed(self, instant: datetime) -> int:
        """Return how many instants are not later than ``instant``: a cut takes less than a step."""
        number = max(0, (instant - self.first) // self.step + 1)
        return number + 1 if self.at(number + 1) <= instant else number


def _cut(zone: tzinfo, instant: datetime, unit: timedelta) -> datetime:
    """Return ``instant`` rounded down to the unit on the wall, but not to before a change of the offset."""
    parts = list(stretches(zone, instant - unit, instant + TICK))
    if not parts:
        return instant  # beyond the calendar
    stretch = parts[-1]
    wall = stretch.wall(instant)
    return max(stretch.start, stretch.instant(wall - (wall - _A_MIDNIGHT) % unit))
