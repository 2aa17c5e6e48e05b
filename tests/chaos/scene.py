"""The servers, the replicas and the workers of one run, and what a fault may ask of them."""

import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from random import Random

import psutil

from celery_leased_beat.store import Keys, LedgerReader, Snapshot
from tests.chaos.brokers import Broker
from tests.chaos.evidence import EVERYBODY, Elected, Era, Life, Trouble
from tests.chaos.members import Member, Replica, Worker
from tests.chaos.notes import Notebook, What
from tests.chaos.programme import all_entries
from tests.chaos.servers import HarmedValkey
from tests.chaos.setting import Setting
from tests.chaos.timeline import Timeline
from tests.chaos.watch import Watch
from tests.nodes.celery import ProcessNode, beat, worker
from tests.nodes.proxy import Proxy
from tests.nodes.valkey import LocalValkey

APP = "tests.chaos.app"
MOST_REPLICAS = 8
WORKERS = 2
CONCURRENCY = 3
EPOCH = datetime.fromtimestamp(0, UTC)

#: Seconds between two samples of the processes' memory.
SAMPLE = 2.0
#: For how long writes may be held back while the ledger is read, before it is lost: in seconds.
READING = 20.0


class Scene:
    """One run's cast; all of it is worked by one thread, so a fault finds what it has just looked at."""

    def __init__(
        self, lease: HarmedValkey, broker: Broker, sink: LocalValkey, *, folder: Path, draw: Random, ttl: float
    ) -> None:
        self.lease, self.broker, self._folder, self._draw = lease, broker, folder, draw
        self.timeline = Timeline()
        self.setting = Setting(broker.url_over(broker.port), lease.url, sink.url, ttl=ttl)
        self.keys = Keys(self.setting.namespace)
        self.notebook = Notebook(sink.url)
        self.eras: list[Era] = []
        self.breaks: list[tuple[float, str]] = []
        self.troubles: list[Trouble] = []
        self.memory: dict[tuple[int, float], list[tuple[float, int]]] = {}
        self.replicas = [self._replica(number) for number in range(1, MOST_REPLICAS + 1)]
        self.workers = [self._worker(number) for number in range(1, WORKERS + 1)]
        #: How often the number of replicas was changed.
        self.scaled = 0
        self._sampled = 0.0
        self.watch = Watch(lease.url, self.keys, self._note_elected)

    def _replica(self, number: int) -> Replica:
        name, lease, broker = f"beat-{number}", Proxy(self.lease.port), Proxy(self.broker.port)

        def make() -> tuple[ProcessNode, int]:
            setting = replace(self.setting, lease=lease.url, broker=self.broker.url_over(broker.port))
            return beat(APP, name, folder=self._folder, environment=setting.environment()), setting.version

        return Replica(name, make, self.timeline, lease=lease, broker=broker)

    def _worker(self, number: int) -> Worker:
        name = f"worker-{number}"

        def make() -> tuple[ProcessNode, int]:
            environment = self.setting.environment()
            node = worker(APP, name, folder=self._folder, environment=environment, concurrency=CONCURRENCY)
            return node, self.setting.version

        return Worker(name, make, self.timeline)

    def _note_elected(self, elected: Elected) -> None:
        name = next((life.name for life in self.lives if life.pid == elected.pid), "a stranger")
        self.timeline.note(f"{name} holds the lease, term {elected.term}")

    # The cast

    @property
    def members(self) -> list[Member]:
        return [*self.workers, *self.replicas]

    @property
    def lives(self) -> list[Life]:
        return sorted((life for member in self.members for life in member.lives), key=lambda life: life.begun)

    @property
    def free_replicas(self) -> list[Replica]:
        return [replica for replica in self.replicas if replica.free]

    @property
    def free_workers(self) -> list[Worker]:
        return [worker for worker in self.workers if worker.free]

    def holder(self) -> Replica | None:
        """The free replica that holds the lease."""
        pid = self.watch.holder()
        return next((replica for replica in self.free_replicas if replica.life and replica.life.pid == pid), None)

    def standbys(self) -> list[Replica]:
        holder = self.holder()
        return [replica for replica in self.free_replicas if replica is not holder]

    def scale(self, count: int) -> None:
        """Want so many replicas; those that are too many are told to end."""
        self.timeline.note(f"scale to {count} replicas")
        for number, member in enumerate(self.replicas):
            member.wanted = number < count
            if not member.wanted and member.life and not member.life.dismissed:
                member.tell("SIGTERM")

    def deploy(self, version: int) -> None:
        """From now on a replica starts with this version of the schedule."""
        self.timeline.note(f"version {version} is deployed")
        self.setting = replace(self.setting, version=version)

    def supervise(self) -> None:
        """Start what is wanted and does not live, after a moment; look at the holder and at the memory."""
        now = time.time()
        for member in self.members:
            if member.look() is not None:
                member.restart_at = now + self._draw.uniform(0.2, 1.5)
            if member.wanted and member.life is None and now >= member.restart_at:
                member.start()
        if now >= self._sampled + SAMPLE:
            self._sampled = now
            self._sample_memory(now)

    def aim(self, spread: float = 0.2) -> None:
        """Wait for the next instant of an entry of each second, give or take ``spread`` seconds."""
        self.watch.aim(self._draw, spread)

    # The data

    def ledger(self) -> Snapshot:
        """Read the whole ledger."""
        return LedgerReader(self.lease.client, self.keys).snapshot(list(all_entries()), EPOCH)

    def intents(self) -> frozenset[str]:
        """The ids of the fires that are on their way."""
        return frozenset(map(str, self.lease.client.hkeys(self.keys.intents)))

    def fires(self) -> frozenset[str]:
        """The ids of all fires that the ledger knows of."""
        return frozenset(record.fire_id for record in self.ledger().records if record.fire_id)

    @contextmanager
    def losing_data(self) -> Iterator[None]:
        """Read what is about to be lost, with all writes held back until the block has lost it."""
        self.lease.block(READING)
        snapshot, intents, holder = self.ledger(), self.intents(), self.watch.holder()
        yield
        self.eras.append(Era(time.time(), snapshot, intents, holder))
        self.timeline.note(f"all data is lost, {len(snapshot.records)} records, {len(intents)} intents")

    @contextmanager
    def waiting_for_the_broker(self) -> Iterator[None]:
        """Note that for as long as the block lasts the broker does not answer to anybody."""
        begun = time.time()
        yield
        self.troubles.append(Trouble(EVERYBODY, "the broker", begun, time.time()))

    # The workers

    def broken(self, worker: Worker) -> None:
        """Note that a worker's connection to the broker breaks now."""
        self.breaks.append((time.time(), worker.name))

    def all_broken(self) -> None:
        """Note that the broker breaks all connections now."""
        for member in self.workers:
            self.broken(member)

    def running_bodies(self) -> list[int]:
        """The processes of pools that are in a body."""
        open_bodies: dict[str, int] = {}
        for note in self.notebook.notes()[-200:]:
            if note.what == What.BEGUN:
                open_bodies[note.task] = note.pid
            elif note.what == What.ENDED:
                open_bodies.pop(note.task, None)
        return list(open_bodies.values())

    def _sample_memory(self, now: float) -> None:
        for member in self.members:
            for pid in [member.life.pid, *member.pool()] if member.life else []:
                with suppress(psutil.Error):
                    process = psutil.Process(pid)
                    samples = self.memory.setdefault((pid, process.create_time()), [])
                    samples.append((now, process.memory_info().rss))

    def close(self) -> None:
        self.watch.close()
        for member in self.members:
            member.teardown()
        for replica in self.replicas:
            for proxy in replica.paths.values():
                proxy.__exit__()
