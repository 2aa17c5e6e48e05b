"""A process of this machine that pytest-celery takes for a container."""

import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from tests.nodes.waiting import wait_until

ROOT = Path(__file__).parents[2]

#: Seconds that a node may take to start; a Python with Celery takes one to two on a free core.
START = 60.0


class LocalProcess:
    """One process, its log and its signals; ``prompt`` is the text of the log that says that it is ready."""

    def __init__(
        self, name: str, command: Sequence[str], *, folder: Path, prompt: str, environment: Mapping[str, str]
    ) -> None:
        self.name = name
        self.log = folder / f"{name}.log"
        self._command = list(command)
        self._folder = folder
        self._prompt = prompt
        # Unbuffered: Celery 5.5 prints its banner without a flush.
        self._environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": "1", **environment}
        self._process: subprocess.Popen[bytes] | None = None
        self._begin = 0

    @classmethod
    def celery(cls, name: str, *arguments: str, **settings: Any) -> "LocalProcess":
        """A command of ``celery``, in the Python that runs the tests."""
        return cls(name, [sys.executable, "-m", "celery", *arguments], **settings)

    @property
    def pid(self) -> int:
        assert self._process, f"{self.name} was not started"
        return self._process.pid

    @property
    def id(self) -> str:
        return f"{self.pid:012d}"

    @property
    def status(self) -> str:
        return "running" if self._process and self._process.poll() is None else "exited"

    @property
    def exit_code(self) -> int | None:
        """None while it runs; negative for the signal that ended it."""
        return self._process.poll() if self._process else None

    @property
    def celeryconfig(self) -> dict[str, str]:
        return {}

    def start(self) -> None:
        self._begin = len(self.logs())
        with self.log.open("ab") as log:
            # A group of its own: a worker's children end with it.
            self._process = subprocess.Popen(
                self._command, cwd=self._folder, env=self._environment, stdout=log, stderr=log, start_new_session=True
            )

    def ready(self) -> bool:
        """Start it where it does not run, and wait for its prompt."""
        if self.status != "running":
            self.start()
        wait_until(lambda: self._prompted() or self.status == "exited", f"{self.name} is ready", START)
        assert self.status == "running", f"{self.name} ended with {self.exit_code}:\n{self.logs()}"
        return True

    def logs(self) -> str:
        return self.log.read_text(errors="replace") if self.log.exists() else ""

    def reload(self) -> None:
        """Nothing is cached."""

    def kill(self, signal: str | int = "SIGKILL") -> None:
        """Send a signal to the process itself; after SIGKILL it has ended."""
        number = _number(signal)
        os.kill(self.pid, number)
        if number == _number("SIGKILL"):
            self.wait_ended()

    def pause(self) -> None:
        os.kill(self.pid, signal.SIGSTOP)

    def resume(self) -> None:
        os.kill(self.pid, signal.SIGCONT)

    def wait_ended(self, seconds: float = START) -> int:
        """Return the exit code once it has ended."""
        assert self._process, f"{self.name} was not started"
        wait_until(lambda: self.status == "exited", f"{self.name} has ended", seconds)
        return self._process.wait()

    def restart(self, timeout: float = START) -> None:
        """End it as an operator does, then start it; its log goes on."""
        if self.status == "running":
            self.resume()
            self.kill("SIGTERM")
            self.wait_ended(timeout)
        self.start()
        self.ready()

    def teardown(self) -> None:
        """End its whole group: this process and the children that it left."""
        if self._process:
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()

    def _prompted(self) -> bool:
        return self._prompt in self.logs()[self._begin :]


def _number(name: str | int) -> int:
    return name if isinstance(name, int) else signal.Signals[name].value
