"""The members of the cast: each a place that is filled by one process after the other."""

import os
import signal
import time
from collections.abc import Callable
from contextlib import suppress

from tests.chaos.evidence import Life, Trouble
from tests.chaos.setting import HANG
from tests.chaos.timeline import Timeline
from tests.nodes.celery import ProcessNode, children
from tests.nodes.proxy import Proxy

#: Gives a node that was not started, as the deployment has it now, and which version that is.
Make = Callable[[], tuple[ProcessNode, int]]


class Member:
    """A replica or a worker."""

    kind = "member"
    #: Whether it runs tasks.
    works = False

    def __init__(self, name: str, make: Make, timeline: Timeline) -> None:
        self.name = name
        self.lives: list[Life] = []
        self.troubles: list[Trouble] = []
        self.wanted = False
        self.restart_at = 0.0
        self._make = make
        self._timeline = timeline
        self._node: ProcessNode | None = None
        self._paused: Life | None = None

    @property
    def life(self) -> Life | None:
        """The life that goes on; None where there is none."""
        return self.lives[-1] if self._node and self._node.alive() else None

    @property
    def free(self) -> bool:
        """Whether it lives and nobody has told it to end, nor paused it."""
        return self.life is not None and not self.life.dismissed and self.life is not self._paused

    @property
    def ready(self) -> bool:
        return self.life is not None and self._node is not None and self._node.container._prompted()

    def start(self) -> None:
        self.look()  # else the end of a life is missed that came since the last look
        self._node, version = self._make()
        begun = time.time()
        self._node.container.start()
        self.lives.append(Life(self.name, self.kind, self._node.pid, begun, version))
        self._timeline.note(f"{self.name} starts, {self._node.pid}")

    def tell(self, name: str, *, group: bool = False) -> None:
        """Send a signal to the process, or to all of its group: its whole container."""
        if self.life is None:
            return
        self.life.listens = self.life.listens or self.ready
        self.life.told.append((time.time(), name))
        self._timeline.note(f"{self.name} gets {name}{' with its children' if group else ''}")
        with suppress(ProcessLookupError):
            (os.killpg if group else os.kill)(self.life.pid, signal.Signals[name])

    def kill_child(self, pid: int) -> None:
        """Kill one process of the pool."""
        if self.life is not None and pid in self.pool():
            self.life.killed[pid] = time.time()
            self._timeline.note(f"{self.name} loses its child {pid}")
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def pool(self) -> list[int]:
        """The ids of its child processes."""
        return children(self.life.pid) if self.life else []

    def pause(self) -> Callable[[], None]:
        """Freeze it with its children, as a machine that stands still does; return what ends that."""
        life, begun = self.life, time.time()
        self._paused = life
        self.tell("SIGSTOP", group=True)

        def resume() -> None:
            self._paused = None
            self.troubles.append(Trouble(self.name, "paused", begun, time.time()))
            if self.life is life:
                self.tell("SIGCONT", group=True)

        return resume

    def look(self) -> Life | None:
        """Return the life that has ended since the last look."""
        if not self.lives or not self._node or self._node.alive() or self.lives[-1].code is not None:
            return None
        life = self.lives[-1]
        life.ended, life.code = time.time(), self._node.exit_code
        self._timeline.note(f"{self.name} has ended, {life.pid} with {life.code}")
        return life

    def logs(self) -> str:
        return self._node.container.logs() if self._node else ""

    def teardown(self) -> None:
        if self._node:
            self._node.teardown()


class Worker(Member):
    """A worker, which reaches both servers without a proxy."""

    kind = "worker"
    works = True


class Replica(Member):
    """A beat, with a path of its own to each of the two servers."""

    kind = "replica"

    def __init__(self, name: str, make: Make, timeline: Timeline, *, lease: Proxy, broker: Proxy) -> None:
        super().__init__(name, make, timeline)
        self.paths = {"lease": lease, "broker": broker}

    def freeze(self, path: str) -> Callable[[], None]:
        """Let nothing pass on a path, as a firewall that drops packets does; return what ends that."""
        begun = time.time()
        self._timeline.note(f"{self.name} has lost its way to the {path}")
        self.paths[path].freeze()

        def thaw() -> None:
            self.paths[path].thaw()
            self.troubles.append(Trouble(self.name, path, begun, time.time()))
            self._timeline.note(f"{self.name} has its way to the {path} again")

        return thaw

    def hang(self) -> None:
        """Keep its main thread from its work for a while, and no other thread."""
        self.tell("SIGUSR2")
        self.troubles.append(Trouble(self.name, "hung", time.time(), time.time() + HANG))

    def cut(self, path: str) -> None:
        count = self.paths[path].cut()
        self.troubles.append(Trouble(self.name, path, time.time(), time.time()))
        self._timeline.note(f"{self.name} has lost {count} connections to the {path}")
