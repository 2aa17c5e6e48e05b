"""The app at work: beats, a worker, and what the worker handled, held against each entry's grid."""

import json
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Self

import redis

from celery_leased_beat.store import Keys
from examples.valkey import Server
from tests.brokers.entries import HANDLERS, INTERVAL, LOSSY, NAME, SETTINGS
from tests.nodes.celery import BeatNode, WorkerNode, beat, worker
from tests.nodes.waiting import wait_until
from tests.processes.sink import Row, Sink

APP = "tests.brokers.app"
Instants = list[tuple[str, str, datetime]]


@dataclass(frozen=True)
class Found:
    """What is ``missing`` of each grid and what is ``doubled``: entry, handler and instant."""

    missing: Instants = field(default_factory=list)
    doubled: Instants = field(default_factory=list)

    @property
    def owed(self) -> Instants:
        """What is missing of the entries that catch up on everything."""
        return [lost for lost in self.missing if lost[0] not in LOSSY]


class Stand:
    """Runs until it is closed; a worker that ends with its broker is started again, as a supervisor does.

    ``settings`` are Celery's.
    """

    def __init__(self, settings: dict[str, Any], sink: Sink, folder: Path, *, beats: int = 1) -> None:
        environment = {"CONF": json.dumps({**SETTINGS, **settings}), "SINK": sink.url}
        self.sink = sink
        self.worker: WorkerNode = worker(APP, "worker", folder=folder, environment=environment, concurrency=3)
        self.beats: list[BeatNode] = [
            beat(APP, f"beat-{number + 1}", folder=folder, environment=environment) for number in range(beats)
        ]

    def __enter__(self) -> Self:
        for node in (self.worker, *self.beats):
            node.container.start()
        return self

    def __exit__(self, *_: object) -> None:
        for node in (*self.beats, self.worker):
            node.teardown()

    @property
    def beat(self) -> BeatNode:
        """The one beat, or the first."""
        return self.beats[0]

    def holder(self, server: Server) -> BeatNode:
        """Return the beat that the lease on ``server`` names."""
        with redis.Redis(port=server.port, decode_responses=True) as client:
            value = client.get(Keys(NAME).lease)
        return next(beat for beat in self.beats if f":{beat.pid}" in value)

    def logs(self) -> str:
        """What the beats have logged."""
        return "".join(node.logs() for node in self.beats)

    def supervise(self) -> None:
        """Start the worker again where it has ended."""
        if not self.worker.alive():
            self.worker.container.start()

    def stays(self, seconds: float) -> None:
        """Let time pass in which all beats live."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            assert all(node.alive() for node in self.beats), self.logs()
            self.supervise()
            time.sleep(0.1)

    def reached(self, handler: str, count: int, seconds: float = 60.0) -> list[Row]:
        """Wait until that many more instants were handled, and return their rows."""
        before = {row.id for row in self.rows(handler)}

        def more() -> list[Row]:
            self.supervise()
            rows = [row for row in self.rows(handler) if row.id not in before]
            return rows if len(rows) >= count else []

        return wait_until(more, f"{count} more of {handler}", seconds)

    def rows(self, handler: str) -> list[Row]:
        return self.sink.done(handler)

    def settled(self, seconds: float = 60.0, *, vanish: int = 0) -> Found:
        """Wait until all is handled that was due by now and must come; return what the whole run shows.

        So many messages, of a trigger or of a listener, may not come at all.
        """
        until = datetime.now(UTC)

        def owed() -> Instants:
            self.supervise()
            return self.found(until).owed

        try:
            wait_until(lambda: not owed(), "all that is due", seconds)
        except AssertionError as error:
            if len({(entry, at) for entry, _, at in owed()}) > vanish:
                error.add_note("\n".join(f"{entry} {handler} {at.isoformat()}" for entry, handler, at in owed()))
                raise
        return self.found(until)

    def found(self, until: datetime) -> Found:
        found = Found()
        rows = self.sink.done()
        for entry, handlers in HANDLERS.items():
            own = [row for row in rows if row.entry == entry]
            for handler in handlers:
                counts = Counter(row.due for row in own if row.handler == handler)
                grid = set(_grid(min((row.due for row in own), default=until), until))
                found.missing.extend((entry, handler, instant) for instant in sorted(grid - counts.keys()))
                found.doubled.extend((entry, handler, instant) for instant, count in counts.items() if count > 1)
        return found


def _grid(begin: datetime, until: datetime) -> Iterator[datetime]:
    while begin <= until:
        yield begin
        begin += timedelta(seconds=INTERVAL)
