"""The story: start, kill the holder, let the next one go, end, and count."""

import signal
import time
from contextlib import suppress
from dataclasses import dataclass

from examples.shop.app import app, events, schedule
from examples.shop.demo.books import Books
from examples.shop.demo.cast import Cast, DemoError, Takeover
from examples.shop.demo.house import house
from examples.shop.demo.stage import Scene, Stage
from examples.shop.demo.tally import Tally

WORKERS, BEATS = 2, 3
QUEUES = "shop,shop.mail,shop.reports"


@dataclass(frozen=True)
class Ending:
    """What came out."""

    tally: Tally
    kill: Takeover
    release: Takeover

    def figures(self) -> dict[str, int | float]:
        """Return the closing line's figures by name."""
        return {
            "instants": self.tally.instants,
            "coalesced": self.tally.coalesced,
            "enqueued": self.tally.enqueued,
            "handled": self.tally.handled,
            "missing": len(self.tally.missing),
            "doubled": len(self.tally.doubled),
            "takeover_after_kill": round(self.kill.seconds, 3),
            "takeover_after_release": round(self.release.seconds, 3),
        }

    def __str__(self) -> str:
        return (
            "instants {instants}, coalesced {coalesced}, enqueued {enqueued}, handled {handled} x listeners, "
            "missing {missing}, doubled {doubled}, takeover after kill {takeover_after_kill:.2f} s, "
            "after release {takeover_after_release:.2f} s".format(**self.figures())
        )


def play(seconds: float, stage: Stage) -> Ending:
    """Run the shop for ``seconds`` and return what came out. Raises ``DemoError``."""
    with house("examples.shop.app", app, schedule, events) as shop, stage.lit():
        return _Play(shop.cast, shop.books, stage).run(seconds)


class _Play:
    def __init__(self, cast: Cast, books: Books, stage: Stage) -> None:
        self._cast = cast
        self._books = books
        self._stage = stage
        cast.meanwhile = self._show

    def run(self, seconds: float) -> Ending:
        self._stage.say(f"starting {WORKERS} workers and {BEATS} beats, lease TTL 15 s")
        self._cast.start(workers=WORKERS, beats=BEATS, queues=QUEUES)
        self._cast.wait_for(lambda: any(row.handled for row in self._books.rows()), "a fire that was handled")
        begin = time.monotonic()
        self._cast.wait_until(begin + seconds / 3)
        kill = self._end_holder(signal.SIGKILL)
        self._cast.wait_until(begin + 2 * seconds / 3)
        release = self._end_holder(signal.SIGTERM)
        self._cast.wait_until(begin + seconds)
        return Ending(self._count(), kill, release)

    def _end_holder(self, number: signal.Signals) -> Takeover:
        self._stage.say(f"{number.name} to the holder of term {self._cast.holder().term}")
        takeover = self._cast.end_holder(number)
        self._stage.say(
            f"{takeover.seconds:.2f} s after {number.name}, {takeover.successor} holds the lease, term {takeover.term}"
        )
        return takeover

    def _count(self) -> Tally:
        """Wait until what was due by now was handled, end all processes, and count what they did."""
        until = self._books.now()
        self._stage.say("waiting for the last retries")
        self._show()
        with suppress(DemoError):  # what is missing then is in the tally
            self._cast.wait_for(lambda: not self._books.tally(until).missing, "everything handled")
        self._cast.end()
        return self._books.tally(until)

    def _show(self) -> None:
        self._stage.show(Scene(self._cast.replicas(), self._books.rows()))
