"""A scene whose replicas are workers: with a beat inside (``-B``), or with the worker's own step."""

import time
from collections.abc import Sequence
from dataclasses import replace
from random import Random
from typing import Any

from tests.chaos.members import Make, Member, Replica
from tests.chaos.scene import APP, Scene
from tests.chaos.timeline import Timeline
from tests.nodes.celery import ProcessNode, worker

#: The most workers at a time, each with so many processes in its pool.
MOST, POOL = 5, 2
#: By the kind of replica: the arguments of the worker, and what its app is told.
KINDS: dict[str, tuple[Sequence[str], bool]] = {"-B": (["-B"], False), "step": ([], True)}


class WorkingReplica(Replica):
    """A worker that is a replica too; it reaches both servers without a proxy."""

    kind = "worker"
    works = True

    def __init__(self, name: str, make: Make, timeline: Timeline) -> None:
        Member.__init__(self, name, make, timeline)
        self.paths = {}


class Crew(Scene):
    """Its ``replicas`` are workers of one ``kind``; its ``workers`` are plain, and only clear up at the end."""

    def __init__(self, *servers: Any, kind: str, **settings: Any) -> None:
        self._kind = kind
        super().__init__(*servers, **settings)
        self.replicas = self.replicas[:MOST]

    def _replica(self, number: int) -> Replica:
        name, (arguments, in_worker) = f"crew-{number}", KINDS[self._kind]

        def make() -> tuple[ProcessNode, int]:
            environment = replace(self.setting, in_worker=in_worker).environment()
            node = worker(APP, name, *arguments, folder=self._folder, environment=environment, concurrency=POOL)
            return node, self.setting.version

        return WorkingReplica(name, make, self.timeline)

    def holder(self) -> Replica | None:
        """The free worker that holds the lease: its main process, or the beat inside."""
        pid = self.watch.holder()
        return next((one for one in self.free_replicas if one.life and pid in (one.life.pid, *one.pool())), None)

    def resize(self, count: int, draw: Random) -> None:
        """Want so many workers; each that is too many is told to go, or killed."""
        for member in self.replicas[count:]:
            member.wanted = False
            if member.free and draw.random() < 0.5:
                self.kill(member, draw)
        self.scale(count)

    def kill(self, member: Replica, draw: Random) -> None:
        """Kill a worker with its whole container, or its main process alone."""
        self.breaks.append((time.time(), member.name))
        member.tell("SIGKILL", group=draw.random() < 0.5)
