"""The example projects as their users run them: by commands, in their own settings, with a database of each test's."""

import json
import os
import re
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import redis

from celery_leased_beat.fires import fire_id
from celery_leased_beat.store import Keys
from celery_leased_beat.timing import Timing
from tests.nodes.celery import BeatNode, ProcessNode, WorkerNode, beat, worker
from tests.nodes.process import LocalProcess
from tests.nodes.waiting import wait_until

DATABASE = "shop.sqlite3"

#: Seconds that a command may take.
COMMAND = 60.0

#: An envelope's id, and its instant.
Row = tuple[str, datetime]


class Shop:
    """One project under ``examples``, run in ``folder``; ``app`` is what ``celery -A`` is given."""

    def __init__(self, app: str, namespace: str, *, valkey: str, folder: Path, environment: Mapping[str, str]) -> None:
        self.nodes: dict[str, ProcessNode] = {}
        self.folder = folder
        self.namespace = namespace
        self.valkey = redis.Redis.from_url(valkey, decode_responses=True)
        self._keys = Keys(namespace)
        self._app = app
        self._settings: dict[str, Any] = {"folder": folder, "environment": environment}
        self._others: list[LocalProcess] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for process in [*self.nodes.values(), *self._others]:
            process.teardown()
        for log in sorted(self.folder.glob("*.log")):
            print(f"--- {log.name}", log.read_text(errors="replace"), sep="\n")
        self.valkey.close()

    # Processes

    def start(self) -> None:
        """Start a worker and two beats; it seems to them that the daily entries were not decided for two days."""
        first = self.beat("beat-1")
        self.elected()
        first.kill("SIGTERM")
        first.wait_ended()
        self.put_back(timedelta(days=2))
        self.worker("worker")
        for name in ("beat-2", "beat-3"):
            self.beat(name)

    def worker(self, name: str, *arguments: str) -> WorkerNode:
        """Start a worker with two children, and wait until it is ready."""
        node = worker(self._app, name, *arguments, concurrency=2, **self._settings)
        self.nodes[name] = node
        node.ready()
        return node

    def beat(self, name: str) -> BeatNode:
        """Start a beat, and wait until it runs."""
        node = beat(self._app, name, **self._settings)
        self.nodes[name] = node
        node.ready()
        return node

    def serve(self, name: str, *arguments: str, prompt: str) -> None:
        """Start another program in Python, and wait for its prompt."""
        process = LocalProcess(name, [sys.executable, *arguments], prompt=prompt, **self._settings)
        self._others.append(process)
        process.ready()

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run a program in Python to its end."""
        return subprocess.run(
            [sys.executable, *arguments], cwd=self.folder, env={**os.environ, **self._settings["environment"]},
            capture_output=True, text=True, timeout=COMMAND, check=False,
        )  # fmt: skip

    def audit(self) -> dict[str, Any]:
        """Run ``celery leased-beat audit``, which must find all in order."""
        done = self.run("-m", "celery", "-A", self._app, "leased-beat", "audit", "--json")
        assert done.returncode == 0, done.stdout + done.stderr
        return dict(json.loads(done.stdout))

    # The ledger

    def elected(self) -> str:
        """Wait until a replica holds the lease and serves its entries; return what the lease says of it."""
        wait_until(self.served, "the entries are enrolled")
        return str(wait_until(lambda: self.valkey.get(self._keys.lease), "a replica holds the lease"))

    def served(self) -> set[str]:
        """The names of the entries that a holder has served."""
        return set(self.valkey.hkeys(self._keys.current))

    def put_back(self, by: timedelta) -> None:
        """Let it seem that what is due once a day was decided last so long ago; no replica may run meanwhile."""
        assert not self.valkey.exists(self._keys.lease), "a replica holds the lease"
        for field, position in self.valkey.hgetall(self._keys.state).items():
            if re.search(r":cron \d+ \d+ ", field):
                watermark, anchor, term = position.split()
                earlier = [str(int(instant) - by // timedelta(milliseconds=1)) for instant in (watermark, anchor)]
                self.valkey.hset(self._keys.state, field, " ".join([*earlier, term]))

    # What was handled

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        """What a query of the database finds."""
        connection = sqlite3.connect(self.folder / DATABASE, timeout=20)
        try:
            return connection.execute(query).fetchall()
        finally:
            connection.close()

    def wait_for(self, text: str) -> None:
        """Wait until the log of a node has ``text``."""
        wait_until(lambda: any(text in node.logs() for node in self.nodes.values()), f"a log says {text!r}")


def at_least(number: int, find: Callable[[], list[Row]], what: str) -> list[Row]:
    """Wait until so many rows are found."""
    return wait_until(lambda: rows if len(rows := find()) >= number else [], f"{number} {what}")


def assert_on_grid(shop: Shop, entry: str, interval: timedelta, rows: Sequence[Row]) -> None:
    """The rows are fires of the entry, and none is missing between the first and the last, which is of now."""
    instants = sorted(instant for _, instant in rows)
    assert instants == [instants[0] + number * interval for number in range(len(rows))]
    assert {envelope for envelope, _ in rows} == {fire_id(shop.namespace, entry, instant) for instant in instants}
    assert abs(datetime.now(UTC) - instants[-1]) < timedelta(minutes=1)


def registered(worker: ProcessNode) -> set[str]:
    """The tasks that a worker shows at its start."""
    return set(re.findall(r"^  \. (\S+)$", worker.logs(), re.MULTILINE))


def banner(node: ProcessNode) -> dict[str, str]:
    """What a beat shows at its start."""
    return dict(re.findall(r"^    \. (.+?) -> (.*)$", node.logs(), re.MULTILINE))


def latest(timing: Timing) -> datetime:
    """The last instant of what is due once a day, not later than now."""
    now = datetime.now(UTC)
    instant = found = timing.next_after(now - timedelta(days=2))
    while instant is not None and instant <= now:
        found, instant = instant, timing.next_after(instant)
    assert found is not None
    return found
