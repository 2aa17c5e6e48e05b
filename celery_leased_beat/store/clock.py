"""The server's clock, as a replica knows it: one clock for all replicas.

Every answer of a script carries the server's TIME, which was taken between the request and its answer. So each answer
bounds the offset of the two clocks, and of the last minute the tightest bound counts.
"""

import time
from collections import deque
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from threading import Lock
from typing import Any, NamedTuple

from celery_leased_beat.fires import from_milliseconds

#: For how long a sample counts, in seconds: two good clocks drift apart by some milliseconds in it.
WINDOW = 60.0
#: What drift and rounding may put between two samples, in seconds. Beyond it one of the clocks was set.
DRIFT = 0.05


def boottime() -> float:
    """Return seconds on a clock that goes on while the machine is suspended, where there is one."""
    clock = getattr(time, "CLOCK_BOOTTIME", None)
    return time.monotonic() if clock is None else time.clock_gettime(clock)


def instant(answer: Sequence[Any]) -> datetime:
    """Return what TIME (seconds and microseconds) says, to the millisecond, as every instant here is."""
    return from_milliseconds(int(answer[0]) * 1000 + int(answer[1]) // 1000)


class _Sample(NamedTuple):
    taken: float
    low: float
    high: float

    @property
    def offset(self) -> float:
        return (self.low + self.high) / 2

    @property
    def width(self) -> float:
        return self.high - self.low


class ServerClock:
    """Tells the server's time between its answers. Any thread may use it."""

    def __init__(self, clock: Callable[[], float] = boottime) -> None:
        self.elapsed = clock
        self._samples: deque[_Sample] = deque()
        self._best: _Sample | None = None
        self._lock = Lock()

    def observe(self, sent: float, received: float, server: datetime) -> None:
        """Take in an answer: ``sent`` and ``received`` by our clock (``elapsed``), and the server's time in it."""
        instant = server.timestamp()
        sample = _Sample(received, instant - received, instant - sent)
        # One answer less does no harm; to wait would, for a thread that a signal handler interrupted in here.
        if not self._lock.acquire(blocking=False):
            return
        try:
            if self._best is not None and _contradict(self._best, sample):
                self._samples.clear()
            while self._samples and received - self._samples[0].taken > WINDOW:
                self._samples.popleft()
            while self._samples and self._samples[-1].width >= sample.width:
                self._samples.pop()
            self._samples.append(sample)
            self._best = self._samples[0]
        finally:
            self._lock.release()

    def now(self) -> datetime:
        """Return the server's time (aware UTC, whole milliseconds); the host's until the server has answered."""
        best = self._best
        seconds = time.time() if best is None else self.elapsed() + best.offset
        return from_milliseconds(int(seconds * 1000))

    def ahead_of(self, host: datetime) -> timedelta:
        """Return by how much the server's clock is ahead of ``host``, an aware reading of the host's clock."""
        return self.now() - host


def _contradict(one: _Sample, other: _Sample) -> bool:
    return one.low > other.high + DRIFT or other.low > one.high + DRIFT
