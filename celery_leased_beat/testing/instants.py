"""The instants of a timing in a stretch of time, with those of schedules that have to be asked."""

from collections.abc import Iterator
from datetime import datetime

from celery_leased_beat.binding.asked import ASKS, SHORTEST_WAIT, Asked
from celery_leased_beat.timing import TICK, Timing


def instants(timing: Timing, since: datetime, until: datetime) -> Iterator[datetime]:
    """Yield the instants of ``timing`` from ``since`` on and before ``until``, in order."""
    after, last = since - TICK, until - TICK
    # One question may ask a schedule only so often, so it is not asked for more at once.
    longest = ASKS * SHORTEST_WAIT if isinstance(timing, Asked) else last - after
    while after < last:
        end = min(after + longest, last)
        instant: datetime | None = after
        for _ in range(timing.count(after, end)):
            instant = timing.next_after(instant) if instant is not None else None
            if instant is not None:
                yield instant
        after = end
