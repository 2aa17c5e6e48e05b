"""Which instants lie in a period: a timing's arithmetic tells, never a walk."""

from datetime import datetime
from typing import NamedTuple

from celery_leased_beat.plan import Instants, instants_in
from celery_leased_beat.timing import TICK, Timing


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
        return instants_in(timing, *self)


def closed(first: datetime, last: datetime) -> Period:
    """Return the period from ``first`` to ``last``, with both."""
    return Period(first - TICK, last)
