"""What a standby makes of what it sees: wait, take a free lease, or replace a dead holder's.

A lease is replaced before its time only on evidence that this standby gathered itself: it saw the holder's connection
listed by the very server run that the lease names, and then twice, within a second, it did not. That is sound, since
the replacement compares the whole value that was read, and the old token can claim nothing afterwards. Whatever cannot
be known (no right to list connections, a proxy, another server run) leaves the work to the TTL.

There is no I/O here: observations and their times come in.
"""

from dataclasses import dataclass, field
from enum import Enum

from celery_leased_beat.store.observation import Observation

#: Two looks that miss the holder's connection must lie within this time (seconds) of each other: a standby that
#: was held up in between begins anew.
MISSES_WITHIN = 1.0
#: Where the server may have lost what it was told, only the last holder knows what it decided: it gets this head start
#: (seconds).
HEAD_START = 2.0


class Move(Enum):
    """What a standby does next."""

    WAIT = "wait"
    ACQUIRE = "acquire"
    REPLACE = "replace"


@dataclass(slots=True)
class Watch:
    """The memory of one standby, from which each look draws its move."""

    highest_term: int = 0
    was_last_holder: bool = False
    _seen_alive: str | None = field(default=None, init=False)
    _missed_at: float | None = field(default=None, init=False)
    _lost_at: float | None = field(default=None, init=False)

    def look(self, seen: Observation, at: float) -> Move:
        """Return the move that ``seen`` allows, ``at`` a time in seconds of a clock that never goes back."""
        if seen.value is None:
            return self._free(seen, at)
        self._lost_at = None
        return self._held(seen.value, seen.listed, at)

    def knows_more(self, seen: Observation) -> bool:
        """Return whether the server may have lost what this replica, the last holder, remembers."""
        return self.was_last_holder and self._may_have_lost(seen)

    def note_term(self, term: int, *, own: bool) -> None:
        """Remember that ``term`` was somebody's; the last holder is whoever had the highest."""
        if term > self.highest_term:
            self.highest_term = term
            self.was_last_holder = own

    def _free(self, seen: Observation, at: float) -> Move:
        if not self._may_have_lost(seen) or self.was_last_holder:
            return Move.ACQUIRE
        if self._lost_at is None:
            self._lost_at = at
        return Move.ACQUIRE if at - self._lost_at >= HEAD_START else Move.WAIT

    def _may_have_lost(self, seen: Observation) -> bool:
        return seen.moved or seen.term < self.highest_term

    def _held(self, value: str, listed: bool | None, at: float) -> Move:
        if listed is not False:
            self._missed_at = None
            self._seen_alive = value if listed else None
            return Move.WAIT
        if self._seen_alive != value:
            return Move.WAIT
        missed_before = self._missed_at is not None and at - self._missed_at <= MISSES_WITHIN
        self._missed_at = at
        return Move.REPLACE if missed_before else Move.WAIT
