"""``python -m benchmarks.fires [--fires N]``: fires per second of one holder, against a plain loop of ``send_task``.

Both send to one broker on this machine, and nobody consumes. The holder claims each fire in the ledger, publishes it
and commits it; ledger and broker are one Valkey. What is timed are the engine's turns, with 500 entries due in each.
"""

import argparse
import time
from datetime import timedelta
from uuid import uuid4

from celery import Celery
from redis import Redis

from celery_leased_beat import Schedule, store
from celery_leased_beat.engine import Engine, Term
from celery_leased_beat.publisher import Publisher
from examples.shop.demo.crew import redis_url
from examples.valkey import lease_url

QUEUE = f"fires-{uuid4().hex[:8]}"
TTL = timedelta(minutes=10)
TIMEOUT = timedelta(seconds=5)
ENTRIES = 500
INTERVAL = timedelta(seconds=1)


class Holder:
    """Trust without an election: the lease is held, and nobody else wants it."""

    def __init__(self, term: Term) -> None:
        self._term = term

    def term(self) -> Term:
        return self._term

    def fenced(self, term: Term) -> None:
        raise RuntimeError("the lease of the benchmark was lost")

    def progressed(self) -> None:
        """There is no election that wants to know."""


class Bench:
    """One broker, one ledger, one queue."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._client = Redis.from_url(redis_url(url))
        self._app = Celery("fires", broker=redis_url(url))
        self._app.conf.task_default_queue = QUEUE

    def plain(self, fires: int) -> float:
        """Return the messages per second of plain beat's way: one ``send_task`` each, over one connection."""
        with self._app.producer_pool.acquire(block=True) as producer:
            self._app.send_task("job:plain", producer=producer)  # connects
            begin = time.perf_counter()
            for _ in range(fires):
                self._app.send_task("job:plain", producer=producer, retry=False)
            seconds = time.perf_counter() - begin
        return (self._drain() - 1) / seconds

    def ours(self, fires: int) -> float:
        """Return the fires per second of the engine's turns."""
        clock, engine = self._engine()
        engine.turn(clock.now())  # enrols the entries
        sent, seconds = 0, 0.0
        while sent < fires:
            time.sleep(INTERVAL.total_seconds())  # until each entry is due again
            begin = time.perf_counter()
            engine.turn(clock.now())
            seconds += time.perf_counter() - begin
            sent += self._drain()
        return sent / seconds

    def _engine(self) -> tuple[store.ServerClock, Engine]:
        schedule = Schedule(self._app)
        for number in range(ENTRIES):
            schedule.job(f"job-{number}", INTERVAL, lambda: None, catch_up="all")
        clock, keys = store.ServerClock(), store.Keys(QUEUE)
        connection = store.dedicated(self._url, options={}, timeout=TIMEOUT)
        held = store.Lease(connection, keys, TTL, clock).acquire("token", "benchmark")
        assert held is not None
        ledger = store.Ledger(store.connect(self._url, options={}, timeout=TIMEOUT), keys, clock, replica="benchmark")
        trust = Holder(Term(held.term, "token"))
        return clock, Engine(schedule.entries.values(), ledger, Publisher(self._app, QUEUE), trust, namespace=QUEUE)

    def _drain(self) -> int:
        """Empty the queue and return how many messages were in it."""
        waiting = int(self._client.llen(QUEUE))
        self._client.delete(QUEUE)
        return waiting


def main() -> None:
    """Print both rates."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.fires")
    parser.add_argument("--fires", type=int, default=5000, help="how many are sent (default: %(default)s)")
    fires = parser.parse_args().fires
    with lease_url() as url:
        bench = Bench(url)
        print(f"a loop of send_task: {bench.plain(fires):.0f} messages a second")
        print(f"claim, publish and commit: {bench.ours(fires):.0f} fires a second, {ENTRIES} in a turn")


if __name__ == "__main__":
    main()
