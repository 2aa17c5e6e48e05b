"""``python -m benchmarks.takeover [--rounds N]``: three replicas, five entries every second, a lease of 15 s.

In each round the holder is killed with SIGKILL, or let go with SIGTERM, and a new replica is started in its place. At
the end every instant of the plain grid is looked up among what the workers received. Three figures for each signal,
the worst of all rounds:

* the lease: seconds from the signal until another replica had it
* the gap: the longest time around the signal in which no worker received anything; on a grid of a second it is never
  less than about one
* the delay: how much later than its instant the latest fire of that time came to its listener
"""

import argparse
import signal
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from benchmarks.grid import app, events, schedule
from examples.shop.demo.cast import Takeover
from examples.shop.demo.house import House, house
from examples.shop.journal import Line

#: Seconds of undisturbed firing before and after each signal.
REST = 5.0


@dataclass(frozen=True)
class Effect:
    """What one signal did, in seconds."""

    lease: float
    gap: float
    delay: float


def main() -> int:
    """Print the figures and return the exit status: 1 where anything is missing or doubled."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.takeover")
    parser.add_argument("--rounds", type=int, default=3, help="signals of each kind (default: %(default)s)")
    rounds = parser.parse_args().rounds
    with house("benchmarks.grid", app, schedule, events) as grid:
        return _Bench(grid).run(rounds)


class _Bench:
    def __init__(self, grid: House) -> None:
        self._cast = grid.cast
        self._books = grid.books
        self._journal = grid.journal

    def run(self, rounds: int) -> int:
        self._cast.start(workers=2, beats=3, queues="grid")
        self._cast.wait_for(lambda: bool(self._journal.lines()), "a fire that was handled")
        for number in (signal.SIGKILL, signal.SIGTERM):
            effects = [self._disturb(number) for _ in range(rounds)]
            print(f"{number.name}, {rounds} times: {_worst(effects)}", flush=True)
        until = self._books.now()
        self._cast.wait_for(lambda: not self._books.tally(until).missing, "everything handled")
        self._cast.end()
        tally = self._books.tally(until)
        missing, doubled = len(tally.missing), len(tally.doubled)
        print(f"{tally.instants} instants of the plain grid: missing {missing}, doubled {doubled}")
        return 0 if tally.clean and not tally.coalesced else 1

    def _disturb(self, number: signal.Signals) -> Effect:
        self._cast.wait_until(time.monotonic() + REST)
        takeover = self._cast.end_holder(number)
        self._cast.wait_until(time.monotonic() + REST)
        self._cast.add_beat()
        return _effect(takeover, self._journal.lines())


def _effect(takeover: Takeover, lines: Sequence[Line]) -> Effect:
    begin, end = takeover.sent_at - 1, takeover.sent_at + takeover.seconds + REST - 1
    around = [line for line in lines if begin <= line.at <= end]
    gap = max(later - earlier for earlier, later in pairwise(sorted(line.at for line in around)))
    return Effect(takeover.seconds, gap, max(line.at - line.due.timestamp() for line in around))


def _worst(effects: Sequence[Effect]) -> str:
    return ", ".join(
        f"{name} at most {max(getattr(effect, name) for effect in effects):.2f} s" for name in ("lease", "gap", "delay")
    )


if __name__ == "__main__":
    sys.exit(main())
