"""One test's servers and processes, and what a test does with them."""

import json
import re
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import redis

from tests.nodes.celery import BeatNode, ProcessNode, WorkerNode, beat, worker
from tests.nodes.valkey import LocalValkey
from tests.nodes.waiting import PERIOD, holds_for, wait_until
from tests.processes.comparison import JOB, Comparison, compare, longest_gap
from tests.processes.options import Options
from tests.processes.sink import Sink

APP = "tests.processes.app"
SCHEDULER = "celery_leased_beat.Scheduler"
#: For a worker that a test kills: it serves a queue without messages, or it would take some with it.
NO_MESSAGES = ("-Q", "idle")
#: Celery's prefork children may wait 30 s at their end for an answer that their parent no longer reads.
WORKER_END = 90.0


class Stage:
    """The servers, the sink, and the replicas that a test has started."""

    def __init__(
        self,
        options: Options,
        *,
        broker: LocalValkey,
        lease: LocalValkey,
        sink: Sink,
        workers: Iterable[WorkerNode],
        folder: Path,
    ) -> None:
        self.options = options
        self.workers = list(workers)
        self.broker = broker
        self.lease = lease
        self.sink = sink
        self.replicas: list[ProcessNode] = []
        self._folder = folder
        self.client = redis.Redis.from_url(lease.url, decode_responses=True)

    # Processes

    def beats(self, count: int, **changes: Any) -> list[BeatNode]:
        """Start replicas of ``celery beat``; ``changes`` are options that differ for them."""
        return [self.beat(f"beat-{len(self.replicas) + 1}", **changes) for _ in range(count)]

    def beat(self, name: str, *, scheduler: str = SCHEDULER, **changes: Any) -> BeatNode:
        """Start one replica of ``celery beat``, without waiting for it."""
        environment = replace(self.options, **changes).environment()
        node = beat(APP, name, "-S", scheduler, folder=self._folder, environment=environment)
        node.container.start()
        self.replicas.append(node)
        return node

    @contextmanager
    def supervised(self) -> Iterator[list[str]]:
        """Start workers again that end meanwhile, as a supervisor does; give the list of their names.

        Celery's worker is not proof against a Redis that stops while messages are unacknowledged: giving them back
        fails in kombu, and the worker ends.
        """
        ended: list[str] = []
        over = threading.Event()

        def watch() -> None:
            while not over.wait(PERIOD):
                for node in self.workers:
                    if not node.alive():
                        ended.append(node.name())
                        node.container.start()

        watcher = threading.Thread(target=watch, daemon=True)
        watcher.start()
        yield ended
        over.set()
        watcher.join()

    def worker_with_beat(self, name: str, *arguments: str) -> WorkerNode:
        """Start a worker with a beat inside: ``celery worker -B``."""
        environment = self.options.environment()
        node = worker(APP, name, "-B", *arguments, folder=self._folder, environment=environment)
        node.container.start()
        self.replicas.append(node)
        return node

    def worker_with_replica(self, name: str, *arguments: str) -> WorkerNode:
        """Start a worker that runs a replica by itself, without a beat."""
        environment = replace(self.options, in_worker=True).environment()
        node = worker(APP, name, *arguments, folder=self._folder, environment=environment)
        node.container.start()
        self.replicas.append(node)
        return node

    # The lease

    @property
    def lease_key(self) -> str:
        return f"clb:{{{self.options.app}}}:lease"

    def lease_value(self) -> str:
        """The text of the lease, empty where there is none."""
        return self.client.get(self.lease_key) or ""

    def holder(self, *, other_than: ProcessNode | None = None, seconds: float = 30.0) -> ProcessNode:
        """Wait for a replica (another one) to hold the lease, and return it."""
        candidates = [node for node in self.replicas if node is not other_than]
        return wait_until(lambda: next((node for node in candidates if self.holds(node)), None), "a holder", seconds)

    def holds(self, node: ProcessNode) -> bool:
        """Whether the lease's value names the process of ``node``, or a child of it."""
        return self.holding_pid(node) is not None

    def holding_pid(self, node: ProcessNode) -> int | None:
        """Return the id of the process of ``node`` that the lease's value names."""
        named = {int(number) for number in re.findall(r"\b\d+\b", self.lease_value())}
        return next((pid for pid in node.pids() if pid in named), None)

    def stays(self, condition: Callable[[], object], what: str, seconds: float) -> None:
        """Let time pass in which all replicas live and ``condition`` holds."""
        holds_for(lambda: condition() and all(node.alive() for node in self.replicas), f"{what}, all alive", seconds)

    # The sink

    def handled(self, count: int, seconds: float = 60.0) -> None:
        """Wait until that many more messages were handled than now."""
        goal = len(self.sink.done()) + count
        wait_until(lambda: len(self.sink.done()) >= goal, f"{count} more messages handled", seconds)

    def handled_each(self, instants: int, seconds: float = 60.0) -> None:
        """Wait until each entry was handled for that many more instants, by its first listener."""
        names = set(self.options.entries)
        before = len(self.sink.done())

        def enough() -> bool:
            news = self.sink.done()[before:]
            return all(
                len({row.id for row in news if row.entry == name and row.handler == "first"}) >= instants
                for name in names
            )

        wait_until(enough, f"{instants} more instants of each entry handled", seconds)

    def between_instants(self) -> None:
        """Wait until what was due is handled, and the next instant is more than half an interval away."""
        last = max(row.due for row in self.sink.done("first")).timestamp()

        def early() -> bool:
            return 0.1 < (time.time() - last) / self.options.interval % 1 < 0.4

        wait_until(lambda: early() and not self.left(), "a quiet moment")

    def gap_around(self, begin: float, end: float) -> float:
        return longest_gap(self.sink.done("first"), begin, end)

    def compare(self, until: datetime) -> Comparison:
        return compare(
            self.sink.done(),
            self.options.entries,
            namespace=self.options.app,
            interval=timedelta(seconds=self.options.interval),
            until=until,
        )

    def finish(self, *, seconds: float = 60.0) -> Comparison:
        """Wait until what is due now was handled, let all replicas go, and compare what workers got with the grid.

        The broker must hold no message of such a fire by then, so that a second one, if there is one, was met too; and
        the replicas must end by themselves, without an error.
        """
        until = datetime.now(UTC)
        self._settle(until, seconds)
        self.drained(seconds)
        alive = [node for node in self.replicas if node.alive()]
        for node in alive:
            node.ready()  # before that, a signal ends it as it ends any Python
            node.kill("SIGTERM")
        codes = {node.name(): node.wait_ended(90.0) for node in alive}
        assert set(codes.values()) <= {0}, f"a replica ended with an error: {codes}"
        return self.compare(until)

    def assert_clean(self) -> None:
        """Finish, and find each instant handled once, by every listener."""
        compared = self.finish()
        print(compared)
        assert compared.clean, str(compared)

    def drained(self, seconds: float = 60.0) -> None:
        """Wait until the broker holds no message of a fire of which it holds one now, waiting or unacknowledged.

        Replicas may go on firing: a worker of a green pool acknowledges what it has handled when the next message
        comes, so that its broker is never empty.
        """
        awaited = set(self.left())
        try:
            wait_until(lambda: not awaited & set(self.left()), "the messages of these fires are gone", seconds)
        except AssertionError as error:
            error.add_note("\n".join(text for root, text in self.left().items() if root in awaited))
            raise

    def left(self) -> dict[str, str]:
        """The messages that the broker holds, waiting or unacknowledged: one for each task id that they began with."""
        with redis.Redis.from_url(self.broker.url, decode_responses=True) as client:
            waiting = [(json.loads(text), text) for text in client.lrange("celery", 0, -1)]
            unacknowledged = [(json.loads(text)[0], text) for text in client.hvals("unacked")]
        return {message["headers"]["root_id"]: text for message, text in waiting + unacknowledged}

    def quiet(self, seconds: float = 2.0) -> None:
        """Wait until nothing was handled for that long."""

        def still() -> bool:
            rows = self.sink.rows()
            return not rows or rows[-1].at < time.time() - seconds

        wait_until(still, f"nothing handled for {seconds:g} s")

    def _settle(self, until: datetime, seconds: float) -> None:
        """Wait until nothing is missing of what must come; where that takes too long, the comparison will say so."""
        must_come = {JOB, *(name for name, catch_up in self.options.entries.items() if catch_up == "all")}
        with suppress(AssertionError):
            wait_until(lambda: not must_come & {entry for entry, *_ in self.compare(until).missing}, "", seconds)
