"""A grid of instants at one distance from another."""

from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta, tzinfo

import durationpy

from celery_leased_beat.errors import SpecError
from celery_leased_beat.fires import from_milliseconds, to_milliseconds
from celery_leased_beat.timing.zones import to_utc

_MILLISECOND = timedelta(milliseconds=1)
_LAST = to_milliseconds(datetime.max.replace(tzinfo=UTC))


@dataclass(frozen=True, slots=True)
class Every:
    """The instants ``anchor + interval``, ``anchor + 2 * interval`` and so on.

    The interval is whole milliseconds, one at least. The anchor is the instant at which the entry was first seen,
    which the ledger keeps, so that a restart, a deploy or a takeover does not move the grid; it is cut to the
    millisecond. Raises SpecError for another interval.
    """

    interval: timedelta
    anchor: datetime | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.interval, timedelta):
            raise SpecError(f"an interval is a timedelta, not {self.interval!r}")
        if self.interval < _MILLISECOND or self.interval % _MILLISECOND:
            raise SpecError(f"an interval of {self.interval!r} is not possible; take whole milliseconds, 1 at least")
        if self.anchor is not None:
            object.__setattr__(self, "anchor", from_milliseconds(to_milliseconds(to_utc(self.anchor))))

    @property
    def key(self) -> str:
        """``every <milliseconds>``: the grid's anchor is no part of it."""
        return f"every {self.interval // _MILLISECOND}"

    def next_after(self, instant: datetime) -> datetime | None:
        """Return the first instant of the grid later than ``instant``, None beyond the last year of the calendar."""
        anchor, step = self._grid()
        following = anchor + (self._passed(instant) + 1) * step
        return from_milliseconds(following) if following <= _LAST else None

    def count(self, after: datetime, until: datetime) -> int:
        """Return how many instants of the grid lie in (after, until]."""
        return max(0, self._passed(until) - self._passed(after))

    def resolved(self, zone: tzinfo) -> "Every":
        """Return itself: a grid needs no zone."""
        return self

    def anchored(self, anchor: datetime) -> "Every":
        """Return the grid laid from ``anchor``."""
        return replace(self, anchor=anchor)

    def describe(self) -> str:
        """Return the timing in English, such as ``every 1h30m``."""
        return f"every {durationpy.to_str(self.interval)}"

    def _passed(self, instant: datetime) -> int:
        """Return how many instants of the grid are not later than ``instant``."""
        anchor, step = self._grid()
        return max(0, (to_milliseconds(to_utc(instant)) - anchor) // step)

    def _grid(self) -> tuple[int, int]:
        if self.anchor is None:
            raise ValueError(f"{self!r} has no anchor to count from; anchored(...) gives it one")
        return to_milliseconds(self.anchor), self.interval // _MILLISECOND
