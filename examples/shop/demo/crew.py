"""The processes of the demo: each in a session of its own, with a log of its own, and ended by its id."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from types import TracebackType
from typing import Self

ROOT = Path(__file__).parents[3]

#: Seconds that all processes together may take to end by themselves; what is left then is killed.
PATIENCE = 10.0


def redis_url(url: str) -> str:
    """Return ``url`` as Celery's brokers write it: they know the server by its older name only."""
    return url.replace("valkey", "redis", 1) if url.startswith("valkey") else url


def environment(url: str, namespace: str) -> dict[str, str]:
    """Return what the processes of one run are told: everything they need is on one Valkey."""
    return {
        "CELERY_BROKER_URL": url,
        "SHOP_DATA_URL": url,
        "SCHEDULER_NAMESPACE": namespace,
        "SCHEDULER_LEASE_TTL": "15s",
    }


@dataclass(frozen=True)
class Member:
    """One process and its log."""

    name: str
    process: "subprocess.Popen[bytes]"
    log: Path

    @property
    def pid(self) -> int:
        return self.process.pid

    @property
    def status(self) -> int | None:
        """None while it runs, else its exit status; negative for the signal that ended it."""
        return self.process.poll()

    def says(self, text: str) -> bool:
        """Return whether ``text`` is in its log."""
        return text in self.log.read_text(errors="replace")

    def send(self, number: signal.Signals) -> None:
        """Send a signal to the process itself."""
        with suppress(ProcessLookupError):
            os.kill(self.pid, number)

    def end_group(self) -> None:
        """Kill what is left of it and of its children: its session has no other processes."""
        with suppress(ProcessLookupError):
            os.killpg(self.pid, signal.SIGKILL)
        self.process.wait()


class Crew:
    """Starts processes of ``celery`` for one app, and ends them all with the block, whatever happens in it."""

    def __init__(self, app: str, environment: Mapping[str, str]) -> None:
        self.members: list[Member] = []
        self._app = app
        self._environment = {**os.environ, "PYTHONPATH": str(ROOT), **environment}
        self._folder = TemporaryDirectory(prefix="crew-", ignore_cleanup_errors=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        # At once, whoever is still there: tox gives a command half a second after Ctrl-C.
        with _undisturbed():
            for member in self.members:
                member.end_group()
            self._folder.cleanup()

    def worker(self, name: str, *arguments: str) -> Member:
        """Start ``celery worker``."""
        return self.start(name, "worker", "--loglevel", "INFO", "--hostname", f"{name}@%h", *arguments)

    def beat(self, name: str) -> Member:
        """Start ``celery beat -S celery_leased_beat.Scheduler``."""
        return self.start(name, "beat", "--loglevel", "INFO", "-S", "celery_leased_beat.Scheduler")

    def start(self, name: str, *arguments: str) -> Member:
        """Start ``celery`` with these arguments."""
        path = Path(self._folder.name, f"{name}.log")
        command = [sys.executable, "-m", "celery", "-A", self._app, *arguments]
        with path.open("ab") as log:
            process = subprocess.Popen(
                command, cwd=self._folder.name, env=self._environment, stdout=log, stderr=log, start_new_session=True
            )
        member = Member(name, process, path)
        self.members.append(member)
        return member

    def end(self, members: list[Member]) -> None:
        """Let ``members`` end by themselves, and kill what has not ended in time."""
        running = [member for member in members if member.status is None]
        for member in running:
            member.send(signal.SIGTERM)
        deadline = time.monotonic() + PATIENCE
        while any(member.status is None for member in running) and time.monotonic() < deadline:
            time.sleep(0.05)
        for member in members:
            member.end_group()

    def fallen(self) -> list[Member]:
        """Return those that ended with an error of their own; a signal from outside is none."""
        return [member for member in self.members if (member.status or 0) > 0]


@contextmanager
def _undisturbed() -> Iterator[None]:
    """Hold Ctrl-C and SIGTERM back: a second one must not leave processes behind."""
    numbers = (signal.SIGINT, signal.SIGTERM)
    before = {number: signal.signal(number, signal.SIG_IGN) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
