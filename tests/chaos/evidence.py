"""What a run leaves for its verdict. Times are seconds since 1970 of this machine, whose clock the servers share."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple

from celery_leased_beat.store import Record, Snapshot
from tests.chaos.notes import Note

FOREVER = float("inf")
EVERYBODY = "everybody"

#: On a busy machine a process goes on for so long (seconds) after its SIGKILL.
DYING = 0.5
#: A replica waits for a moment before its first look at the lease, and has to connect for it (seconds).
FIRST_LOOK = 1.0
#: What kept a holder from its work so shortly before a loss of data may keep it a little longer (seconds).
BEFORE = 1.0


@dataclass
class Life:
    """One process of a replica or a worker from its start to its end; ``told`` are the signals that we sent to it.

    ``killed`` are the processes of its pool that we killed alone, each with the time. ``listens`` says whether it was
    ready when it was told to end: before that, the signal ends Python itself.
    """

    name: str
    kind: str
    pid: int
    begun: float
    version: int = 1
    ended: float = FOREVER
    code: int | None = None
    told: list[tuple[float, str]] = field(default_factory=list)
    listens: bool = False
    killed: dict[int, float] = field(default_factory=dict)

    @property
    def key(self) -> tuple[str, float]:
        return self.name, self.begun

    @property
    def dismissed(self) -> bool:
        """Whether we told it to end."""
        return self.leaves < FOREVER

    @property
    def leaves(self) -> float:
        """When we first told it to end."""
        return min((at for at, signal in self.told if signal in ("SIGKILL", "SIGTERM")), default=FOREVER)

    def dead_by(self, pid: int) -> float:
        """The time by which ``pid``, the process itself or one of its pool, was dead of a SIGKILL of ours.

        The pool dies with its worker: Celery asks the system for that. Forever, where we did not kill it.
        """
        if pid in self.killed:
            return self.killed[pid] + DYING
        return self.ended if any(signal == "SIGKILL" for _, signal in self.told) else FOREVER


class Trouble(NamedTuple):
    """Something kept a replica or a worker from its work for a while: it was paused, its path was cut.

    A turn waits for some seconds for a broker that does not answer: then ``name`` is EVERYBODY.
    """

    name: str
    what: str
    begun: float
    ended: float


class Elected(NamedTuple):
    """A replica's process was seen with the lease of a term."""

    at: float
    term: int
    pid: int


@dataclass(frozen=True)
class Era:
    """The time in which the lease's server kept its data.

    As it ended, the process ``holder`` held the lease, or nobody did, and ``intents`` were on their way.
    """

    ended: float
    snapshot: Snapshot
    intents: frozenset[str] = frozenset()
    holder: int | None = None


@dataclass(frozen=True)
class Evidence:
    """All that a verdict looks at.

    ``until`` is the time up to which everything has to be decided and done. ``breaks`` are the times at which the
    broker's side of a worker's connection broke. ``received`` are the ids that the workers' logs tell of.
    """

    namespace: str
    version: int
    begun: float
    until: float
    eras: Sequence[Era]
    notes: Sequence[Note]
    lives: Sequence[Life]
    elected: Sequence[Elected] = ()
    troubles: Sequence[Trouble] = ()
    breaks: Sequence[tuple[float, str]] = ()
    received: frozenset[str] = frozenset()
    succeeded: frozenset[str] = frozenset()
    #: Whether the broker's transport may lose a message with the connection over which it was fetched.
    fetched_before_noted: bool = True
    #: By process: when a replica began to serve; its first look at the lease comes after that.
    serving: Mapping[int, float] = field(default_factory=dict)
    #: By life (its process's number may come again): why it may have ended without us.
    excuses: Mapping[tuple[str, float], str] = field(default_factory=dict)
    #: The entry and the instant of each fire that a replica has said it was too late for.
    given_up: frozenset[tuple[str, datetime]] = frozenset()
    #: Lines of the replicas' logs that tell of an error of our own.
    errors: Sequence[str] = ()
    #: By process and its begin: its size at each of some times.
    memory: Mapping[tuple[int, float], Sequence[tuple[float, int]]] = field(default_factory=dict)
    keys: Mapping[str, int] = field(default_factory=dict)

    @property
    def losses(self) -> list[float]:
        """When the lease's server lost its data."""
        return [era.ended for era in self.eras[:-1]]

    def why_idle(self, era: Era) -> str:
        """Say why the holder did not go on after the loss that ended ``era``; empty where it did, or should have.

        What it decided and what it had not enqueued it alone remembers. A turn of a new term writes down the one and
        enqueues the other before it decides anything.
        """
        if era.holder is None:
            return "nobody held the lease"
        after = [one for one in self.elected if one.at > era.ended]
        if not after:
            return self._why_kept(era, era.holder, FOREVER)
        first, worked = after[0], {record.term for record in self._following(era)}
        if first.pid == era.holder and first.term in worked:
            return ""
        if why := self._why_kept(era, era.holder, self._next_other(after, era.holder)):
            return why
        if self.serving.get(first.pid, 0.0) > era.ended - FIRST_LOOK:
            return "its lease went to a replica that had just begun, and knew of no holder"
        if self._saw_nothing(era, first.pid):
            return "its lease went to the one before, who had seen nothing of its term"
        held_before = any(one.pid == first.pid for one in self.elected if one.at <= era.ended)
        if held_before and first.term not in worked:
            why = self._why_kept(era, first.pid, self._next_other(after, first.pid))
            return why and f"its lease went to the one before, who had not learned of it, and {why}"
        return ""

    def _saw_nothing(self, era: Era, pid: int) -> bool:
        """Whether the process ``pid`` was kept from its work from the holder's election on until the loss."""
        life = self.life_of(pid, era.ended)
        since = max(one.at for one in self.elected if one.pid == era.holder and one.at <= era.ended)
        return life is not None and any(
            trouble.name == life.name and trouble.begun <= since and trouble.ended >= era.ended
            for trouble in self.troubles
        )

    def _following(self, era: Era) -> Sequence[Record]:
        return self.eras[self.eras.index(era) + 1].snapshot.records

    @staticmethod
    def _next_other(elected: Sequence[Elected], pid: int) -> float:
        return next((one.at for one in elected if one.pid != pid), FOREVER)

    def _why_kept(self, era: Era, pid: int, until: float) -> str:
        life = self.life_of(pid, era.ended)
        if life is None or ((gone := min(life.leaves, life.ended)) < FOREVER and gone <= until):
            return "its holder had ended, or was told to"
        for trouble in self.troubles:
            concerns = trouble.name in (life.name, EVERYBODY)
            if concerns and trouble.begun <= until and trouble.ended >= era.ended - BEFORE:
                return f"its holder was kept from its work: {trouble.what}"
        return ""

    def life_of(self, pid: int, at: float) -> Life | None:
        """Whose process that was at a time: where several had its number, the latest that had begun by then."""
        return next((life for life in reversed(self.lives) if life.pid == pid and life.begun <= at), None)
