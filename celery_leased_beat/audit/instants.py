"""Which instants lie in a period: a timing's arithmetic tells, never a walk."""

from datetime import datetime
from typing import NamedTuple

from celery_leased_beat.plan import earliest_keeping
from celery_leased_beat.timing import Timing
from celery_leased_beat.timing.zones import TICK

#: The first of some instants, the last, and how many they are.
Instants = tuple[datetime, datetime, int]


class Period(NamedTuple):
    """The time later than ``after``, up to and with ``until``."""

    after: datetime
    until: datetime

    @property
    def empty(self) -> bool:
        """Whether no time lies in it."""
        return self.after >= self.until

    def holds(self, instant: datetime) -> bool:
        """Whether ``instant`` lies in it."""
        return self.after < instant <= self.until

    def within(self, other: "Period") -> "Period":
        """Return what the two have in common; one that ends before it begins is empty."""
        return Period(max(self.after, other.after), min(self.until, other.until))

    def instants(self, timing: Timing) -> Instants | None:
        """Return the instants of ``timing`` in this period, None where there are none."""
        count = 0 if self.empty else timing.count(*self)
        first = timing.next_after(self.after) if count else None
        if first is None:
            return None
        return first, first if count == 1 else earliest_keeping(timing, *self, kept=0), count


def closed(first: datetime, last: datetime) -> Period:
    """Return the period from ``first`` to ``last``, with both."""
    return Period(first - TICK, last)
