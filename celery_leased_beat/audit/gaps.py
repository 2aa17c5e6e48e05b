"""The instants that no decision covers, and why."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby, pairwise

from celery_leased_beat.audit.findings import Gap, Span
from celery_leased_beat.audit.instants import Period, closed
from celery_leased_beat.engine import Position
from celery_leased_beat.timing import TICK, Timing, has_memory


@dataclass(frozen=True, slots=True)
class Expectation:
    """What the ledger should tell of an entry, from the instant on at which it was first seen.

    ``served`` says that holders serve it under this very timing. The history begins at ``reaches_back``, and what was
    due up to ``settled`` should be decided by now. ``retimed`` are the times that a change of timing dropped, and
    ``recalled`` those of which the server has lost the decisions.
    """

    timing: Timing
    position: Position
    served: bool
    reaches_back: datetime
    settled: datetime
    retimed: Sequence[Period]
    recalled: Sequence[Period] = ()

    def why(self, instant: datetime) -> tuple[Gap, str]:
        """Return why no decision covers ``instant``. It changes only after one of ``turns``."""
        if any(period.holds(instant) for period in self.retimed):
            return Gap.RETIMED, "dropped as the timing changed"
        if any(period.holds(instant) for period in self.recalled):
            return Gap.UNRECORDED, "decided before the server lost it"
        if instant <= self.position.watermark:
            # A decision comes after its instant, so one of a later instant than the oldest record is on record.
            if instant <= self.reaches_back:
                return Gap.UNRECORDED, "older than the record"
            return Gap.MISSING, "its entry went on without it"
        if not self.served:
            return Gap.RETIMED, "served under another timing"
        if instant > self.settled:
            return Gap.PENDING, "due just now"
        return Gap.MISSING, "nobody has decided it so far"

    @property
    def tells(self) -> bool:
        """Whether the timing tells of any time whether it is one of its instants."""
        return not has_memory(self.timing)

    def covers(self, decision: Span) -> bool:
        """Whether ``decision`` is one of this very timing."""
        known = self.position.anchor < decision.first and decision.last <= self.position.watermark
        return known and not any(period.holds(decision.last) for period in self.retimed)

    def fits(self, decision: Span) -> bool:
        """Whether the timing has the instants that ``decision`` says, where it is one of this timing and that tells."""
        if not self.tells:
            return True
        instants = self.timing.count(*closed(decision.first, decision.last))
        return instants == decision.count or not self.covers(decision)

    @property
    def turns(self) -> set[datetime]:
        """The ends of the periods over each of which ``why`` gives one answer."""
        ends = {end for period in (*self.retimed, *self.recalled) for end in period}
        return ends | {self.reaches_back, self.settled, self.position.watermark}


def find_gaps(expected: Expectation, decisions: Sequence[Span], window: Period) -> Iterator[Span]:
    """Yield the instants of ``window`` that no decision covers, in order; ``decisions`` are in order of time.

    There are none where the timing does not tell.
    """
    if not expected.tells:
        return
    for period in _uncovered(decisions, window.within(Period(expected.position.anchor, window.until))):
        if period.instants(expected.timing):
            yield from _explain(expected, period)


def _uncovered(decisions: Sequence[Span], window: Period) -> Iterator[Period]:
    after, until = window
    for decision in decisions:
        before = min(decision.first - TICK, until)
        if after < before:
            yield Period(after, before)
        after = max(after, decision.last)
    if after < until:
        yield Period(after, until)


def _explain(expected: Expectation, period: Period) -> Iterator[Span]:
    turns = sorted(turn for turn in expected.turns if period.after < turn < period.until)
    parts = [Period(*ends) for ends in pairwise([period.after, *turns, period.until])]
    for (gap, reason), alike in groupby(parts, key=lambda part: expected.why(part.until)):
        first, *more = alike
        instants = Period(first.after, more[-1].until if more else first.until).instants(expected.timing)
        if instants:
            yield Span(gap, *instants, reason)
