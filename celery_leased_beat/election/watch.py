"""What a standby makes of what it sees: wait, take a free lease, or replace a dead holder's.

A lease is replaced before its time only on evidence that this standby gathered itself: it saw the holder's connection
listed by the very server run that the lease names, and then twice, within a second, it did not. That is sound, since
the replacement compares the whole value that was read, and the old token can claim nothing afterwards. Whatever cannot
be known (no right to list connections, a proxy, another server run) leaves the work to the TTL.

The decision is pure: observations and their times come in.
"""

from dataclasses import dataclass, field
from enum import Enum

#: Two looks that miss the holder's connection must lie within this time (seconds) of each other.
WITHIN = 1.0
#: Where the server may have lost what it was told, only the last holder knows what it decided: it gets this head start
#: (seconds).
HEAD_START = 2.0


class Move(Enum):
    """What a standby does next."""

    WAIT = "wait"
    ACQUIRE = "acquire"
    REPLACE = "replace"


@dataclass(frozen=True, slots=True)
class Sight:
    """What one look showed.

    ``value`` is the lease's whole value, None where there is no lease. ``listed`` says whether the holder's connection
    is among the server's, None where that cannot be known. ``term`` is the last term that the server knows of, 0 for
    none, and ``at`` the time of the look in seconds of a clock that never goes back. ``moved`` says that the server is
    not the one, or not the run of it, on which there last was a holder: it was restarted, or another was promoted.
    """

    value: str | None
    listed: bool | None
    term: int
    at: float
    moved: bool = False


@dataclass(slots=True)
class Watch:
    """The memory of one standby, from which each look draws its move."""

    highest_term: int = 0
    last_holder: bool = False
    _seen_alive: str | None = field(default=None, init=False)
    _missed_at: float | None = field(default=None, init=False)
    _lost_at: float | None = field(default=None, init=False)

    def look(self, sight: Sight) -> Move:
        """Return the move that ``sight`` allows."""
        if sight.value is None:
            return self._free(sight)
        self._lost_at = None
        return self._held(sight.value, sight)

    def knows_more(self, sight: Sight) -> bool:
        """Return whether the server may have lost what this replica, the last holder, remembers."""
        return self.last_holder and self._may_have_lost(sight)

    def note_term(self, term: int, *, own: bool) -> None:
        """Remember that ``term`` was somebody's; the last holder is whoever had the highest."""
        if term > self.highest_term:
            self.highest_term = term
            self.last_holder = own

    def _free(self, sight: Sight) -> Move:
        if not self._may_have_lost(sight) or self.last_holder:
            return Move.ACQUIRE
        if self._lost_at is None:
            self._lost_at = sight.at
        return Move.ACQUIRE if sight.at - self._lost_at >= HEAD_START else Move.WAIT

    def _may_have_lost(self, sight: Sight) -> bool:
        return sight.moved or sight.term < self.highest_term

    def _held(self, value: str, sight: Sight) -> Move:
        if sight.listed is not False:
            self._missed_at = None
            self._seen_alive = value if sight.listed else None
            return Move.WAIT
        if self._seen_alive != value:
            return Move.WAIT
        missed_before = self._missed_at is not None and sight.at - self._missed_at <= WITHIN
        self._missed_at = sight.at
        return Move.REPLACE if missed_before else Move.WAIT
