"""Which instants of an entry are due, and what becomes of each.

The instants in (watermark, now] are cut into windows, oldest first: what fell into a time without a holder, what newer
ones replace, what is past its grace, and what fires. Each of the first three is one decision however many
instants it holds: its ends are found by bisection over ``count``, never by a walk over what was missed.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Literal, get_args

from celery_leased_beat.errors import OptionError
from celery_leased_beat.fires import from_milliseconds, to_milliseconds
from celery_leased_beat.timing import TICK, Timing, to_utc

CatchUp = Literal["latest", "all", "skip"]

#: The fires of one plan: an entry that has much to catch up with does not keep others waiting.
BURST = 100

#: The first of some instants, the last, and how many they are.
Instants = tuple[datetime, datetime, int]


class Outcome(StrEnum):
    """What was decided for an instant."""

    FIRED = "fired"
    COALESCED = "coalesced"
    SKIPPED = "skipped"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Policy:
    """What happens to instants that were missed.

    ``latest``: the last one fires, older ones are coalesced into it. ``all``: each fires, the newest ``limit`` of them.
    ``skip``: what fell into a time without a holder does not fire. ``grace`` is how late an instant may still fire;
    None means however late. Raises OptionError for other values.
    """

    catch_up: CatchUp = "latest"
    grace: timedelta | None = None
    limit: int = 1000

    def __post_init__(self) -> None:
        if self.catch_up not in get_args(CatchUp):
            raise OptionError(f"catch_up={self.catch_up!r} is not known; take one of {', '.join(get_args(CatchUp))}")
        if self.grace is not None and not (isinstance(self.grace, timedelta) and self.grace >= timedelta()):
            raise OptionError(f"grace={self.grace!r} is not possible; take a timedelta that is not negative, or None")
        if type(self.limit) is not int or self.limit < 1:
            raise OptionError(f"limit={self.limit!r} is not possible; take a whole number, 1 at least")


@dataclass(frozen=True, slots=True)
class Decision:
    """What becomes of the ``count`` instants from ``first`` to ``last``.

    One that fired stands alone: ``first == last``, ``count == 1``, and ``reason`` is empty.
    """

    outcome: Outcome
    first: datetime
    last: datetime
    count: int
    reason: str = ""


def plan(
    timing: Timing, policy: Policy, watermark: datetime, now: datetime, serving_since: datetime, burst: int = BURST
) -> tuple[Decision, ...]:
    """Return the decisions for the instants in (watermark, now], in order of time and without a gap.

    ``serving_since`` is the instant since when a holder serves without a gap. At most ``burst`` instants fire; where
    that cuts the plan short, the next call goes on from the last decision. Lateness of exactly the grace still fires.
    """
    return tuple(_decide(timing, policy, to_utc(watermark), to_utc(now), to_utc(serving_since), burst))


def _decide(
    timing: Timing, policy: Policy, after: datetime, now: datetime, serving_since: datetime, burst: int
) -> Iterator[Decision]:
    if policy.catch_up == "skip":
        unserved = min(serving_since, now)
        yield from _record(timing, after, unserved, Outcome.SKIPPED, "no holder")
        after = max(after, unserved)
    kept, why = (policy.limit, "over the limit") if policy.catch_up == "all" else (1, "older than the latest")
    replaced = _earliest_keeping(timing, after, now, kept)
    yield from _record(timing, after, replaced, Outcome.COALESCED, why)
    after = max(after, replaced)
    if policy.grace is not None and now - after > policy.grace:
        late = now - policy.grace - TICK
        yield from _record(timing, after, late, Outcome.SKIPPED, "past its grace")
        after = max(after, late)
    yield from _fires(timing, after, now, burst)


def _record(timing: Timing, after: datetime, until: datetime, outcome: Outcome, reason: str) -> Iterator[Decision]:
    """Yield one decision for all instants in (after, until], or none where there are none."""
    if found := instants_in(timing, after, until):
        yield Decision(outcome, *found, reason)


def _fires(timing: Timing, after: datetime, until: datetime, most: int) -> Iterator[Decision]:
    for _ in range(min(timing.count(after, until), most)):  # so that nothing is asked beyond ``until``
        instant = timing.next_after(after)
        if instant is None:
            return
        yield Decision(Outcome.FIRED, instant, instant, 1)
        after = instant


def instants_in(timing: Timing, after: datetime, until: datetime) -> Instants | None:
    """Return the instants of ``timing`` in (after, until], None where there are none."""
    count = timing.count(after, until)
    first = timing.next_after(after) if count else None
    if first is None:
        return None
    return first, first if count == 1 else _earliest_keeping(timing, after, until, 0), count


def _earliest_keeping(timing: Timing, after: datetime, until: datetime, kept: int) -> datetime:
    """Return the earliest time that has at most ``kept`` instants in (it, until], ``after`` where that does.

    Another time than ``after`` is itself an instant: the last one that is not kept.
    """
    if timing.count(after, until) <= kept:
        return after
    low, high = to_milliseconds(after), to_milliseconds(until)
    while high - low > 1:
        middle = (low + high) // 2
        if timing.count(from_milliseconds(middle), until) > kept:
            low = middle
        else:
            high = middle
    return from_milliseconds(high)
