"""``python -m benchmarks.plan``: how long it takes to plan what was missed in 400 days, against a walk over it."""

import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import partial
from zoneinfo import ZoneInfo

from celery_leased_beat.plan import Policy, plan
from celery_leased_beat.timing import Cron, Every, Timing

NOW = datetime(2026, 6, 1, 12, tzinfo=UTC)
DAYS = timedelta(days=400)
#: The walk goes over this part of the days only: its time grows with their number.
SHARE = 10

TIMINGS: dict[str, Timing] = {
    "* * * * * UTC": Cron("* * * * *", ZoneInfo("UTC")),
    "* * * * * Europe/Budapest": Cron("* * * * *", ZoneInfo("Europe/Budapest")),
    "@every 1m": Every(timedelta(minutes=1), NOW - 2 * DAYS),
}
POLICIES = (Policy("latest"), Policy("all"), Policy("skip"))


def main() -> None:
    """Print one line per timing: each policy's plan, and the walk."""
    for name, timing in TIMINGS.items():
        print(f"{name}: {timing.count(NOW - DAYS, NOW)} instants in {DAYS.days} days")
        for policy in POLICIES:
            seconds = _seconds(partial(plan, timing, policy, NOW - DAYS, NOW, NOW))
            print(f"    planned with catch_up={policy.catch_up!r}: {seconds * 1000:.2f} ms")
        seconds = _seconds(partial(_walk, timing, NOW - DAYS / SHARE), repeat=1)
        print(f"    walked over, {DAYS.days // SHARE} of the days alone: {seconds * 1000:.0f} ms")


def _walk(timing: Timing, after: datetime) -> None:
    instant = timing.next_after(after)
    while instant is not None and instant <= NOW:
        instant = timing.next_after(instant)


def _seconds(call: Callable[[], object], repeat: int = 5) -> float:
    """Return how long the fastest of ``repeat`` calls took."""
    return min(_once(call) for _ in range(repeat))


def _once(call: Callable[[], object]) -> float:
    begin = time.perf_counter()
    call()
    return time.perf_counter() - begin


if __name__ == "__main__":
    main()
