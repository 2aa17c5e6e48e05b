"""Workers and beats as nodes of pytest-celery, each a local process."""

from collections.abc import Mapping
from pathlib import Path

import celery
import psutil
from pytest_celery import CeleryTestNode, CeleryTestWorker

from tests.nodes.process import LocalProcess

QUEUE = "celery"
LOG_LEVEL = "INFO"


class LocalWorker(LocalProcess):
    """A worker's process, which knows what pytest-celery asks of a worker's container."""

    def version(self) -> str:
        return celery.__version__

    def log_level(self) -> str:
        return LOG_LEVEL

    def worker_name(self) -> str:
        return self.name

    def worker_queue(self) -> str:
        return QUEUE


class ProcessNode(CeleryTestNode):
    """A node that is a process: beside kill and restart it can be paused."""

    @property
    def pid(self) -> int:
        return self.container.pid

    def pids(self) -> list[int]:
        """The ids of its process and of that one's children: a pool's, an embedded beat's."""
        return [self.pid, *children(self.pid)]

    @property
    def exit_code(self) -> int | None:
        return self.container.exit_code

    def alive(self) -> bool:
        return self.container.status == "running"

    def pause(self) -> None:
        """SIGSTOP: it stands still and its connections stay open."""
        self.container.pause()

    def resume(self) -> None:
        """SIGCONT."""
        self.container.resume()

    def wait_ended(self, seconds: float = 30.0) -> int:
        return self.container.wait_ended(seconds)


class WorkerNode(ProcessNode, CeleryTestWorker):
    """`celery worker`."""


class BeatNode(ProcessNode):
    """`celery beat`."""


def children(pid: int) -> list[int]:
    """Return the ids of the direct children of a process, none where it has ended."""
    return [child.pid for child in psutil.Process(pid).children()] if psutil.pid_exists(pid) else []


def worker(
    app: str, name: str, *arguments: str, folder: Path, environment: Mapping[str, str], concurrency: int = 4
) -> WorkerNode:
    """A node of ``celery worker`` for ``app`` (a dotted name); it starts when it is asked whether it is ready."""
    process = LocalWorker.celery(
        name, "-A", app, "worker", "-l", LOG_LEVEL, "-n", f"{name}@%h", "-c", str(concurrency),
        "--without-gossip", "--without-mingle", *arguments,
        folder=folder, environment=environment, prompt=" ready.",
    )  # fmt: skip
    return WorkerNode(process, None)


def beat(app: str, name: str, *arguments: str, folder: Path, environment: Mapping[str, str]) -> BeatNode:
    """A node of ``celery beat`` for ``app`` (a dotted name)."""
    process = LocalProcess.celery(
        name, "-A", app, "beat", "-l", LOG_LEVEL, *arguments,
        folder=folder, environment=environment, prompt="beat: Starting...",
    )  # fmt: skip
    return BeatNode(process)
