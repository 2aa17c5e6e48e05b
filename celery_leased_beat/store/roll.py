"""The roll: which replicas compete for the lease, and with what schedule.

Each replica writes a record of itself again and again, and reads those of the others. A record that is not written
again ends after some seconds, as its replica may have. So that two schedules can be told apart by more than their
digests, the outline of each lies beside the roll.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Self

from redis import Redis

from celery_leased_beat.fires import to_milliseconds
from celery_leased_beat.store.channel import Argument, Pooled, ask
from celery_leased_beat.store.clock import ServerClock, instant
from celery_leased_beat.store.connection import Connection
from celery_leased_beat.store.keys import Keys
from celery_leased_beat.store.script import Scripts

#: How long a record counts, in ms: some of the pauses between two, so that a busy machine costs nobody his place.
LIFE = 3000
#: How long an outline lies there after its last replica, in ms: it is only of use beside a record.
OUTLINE_LIFE = 60_000


@dataclass(frozen=True, slots=True)
class Member:
    """A replica, as it says of itself.

    ``replica`` is its host, process and version of this package; ``version`` its ``leased_beat_version``, empty where
    that is not set. ``entries`` and ``digest`` are of its schedule. ``term`` is the number of the term that it holds, 0
    for a standby. One that is not ``ready`` has given the lease up and asks nobody to hand it over.
    """

    id: str
    replica: str
    entries: int
    digest: str
    version: str = ""
    term: int = 0
    ready: bool = True

    @property
    def shown(self) -> str:
        """Who it is, for people: its host, process and version."""
        return f"{self.replica}, version {self.version}" if self.version else self.replica

    @property
    def record(self) -> str:
        """Return the record of it, as :meth:`parse` reads it."""
        return f"{self.entries} {self.digest} {self.version or '-'} {self.term} {int(self.ready)} {self.replica}"

    @classmethod
    def parse(cls, id: str, record: str) -> Self:  # noqa: A002
        """Read a record. Raises ``ValueError`` for one that another version of this package may have written."""
        entries, digest, version, term, ready, replica = record.split(" ", 5)
        return cls(id, replica, int(entries), digest, version if version != "-" else "", int(term), ready == "1")


class Roll:
    """The roll of one namespace, for the election's thread and over its connection."""

    def __init__(self, connection: Connection, keys: Keys, clock: ServerClock) -> None:
        self._connection = connection
        self._keys = keys
        self._scripts = Scripts(connection, clock)

    def attend(self, member: Member, outline: str = "") -> tuple[Member, ...]:
        """Write the record of ``member``; return all others. ``outline`` is what is kept of its schedule, if anything.

        Raises ``StoreError``.
        """
        outlined = self._keys.schedule(member.digest)
        arguments: list[Argument] = [member.id, member.record, LIFE, OUTLINE_LIFE]
        with self._connection.call():
            is_outlined, flat = self._scripts.run("attend", [self._keys.replicas, outlined], arguments)
            if outline and not is_outlined:
                self._connection.execute([("SET", outlined, outline, "PX", OUTLINE_LIFE)])
        return tuple(other for other in _members(flat) if other.id != member.id)

    def leave(self, member: Member) -> None:
        """Take the record of ``member`` away; where there is no connection it ends by itself. Raises ``StoreError``."""
        if self._connection.is_open:
            self._connection.execute([("HDEL", self._keys.replicas, member.id)])


class RollReader:
    """Reads the roll without being on it. Each call raises ``StoreError`` where no usable answer came."""

    def __init__(self, client: Redis, keys: Keys) -> None:
        self._channel = Pooled(client)
        self._keys = keys

    def members(self) -> tuple[Member, ...]:
        """Return all replicas, the holder first."""
        time, records = ask(self._channel, ("TIME",), ("HGETALL", self._keys.replicas))
        now = to_milliseconds(instant(time))
        present: list[str] = []
        for name, text in records.items():
            at, _, record = text.partition(" ")
            if at.isdecimal() and abs(now - int(at)) <= LIFE:
                present += [name, record]
        return tuple(sorted(_members(present), key=lambda member: (-member.term, member.replica)))

    def outline(self, digest: str) -> str | None:
        """Return the outline of the schedule with that ``digest``, None where it is not there."""
        (outline,) = ask(self._channel, ("GET", self._keys.schedule(digest)))
        return outline if isinstance(outline, str) else None


def _members(flat: Sequence[str]) -> Iterator[Member]:
    for name, record in zip(flat[::2], flat[1::2], strict=True):
        try:
            yield Member.parse(name, record)
        except ValueError:
            continue  # of another version of this package: nothing can be said of it
