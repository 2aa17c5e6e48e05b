"""What a replica says of itself on the roll, and what it makes of those that it finds there.

Used in the election's thread only, but for ``seen``.
"""

import logging
from contextlib import suppress
from dataclasses import replace
from typing import NamedTuple, Protocol

from celery_leased_beat.election.precedence import Precedence
from celery_leased_beat.errors import StoreError
from celery_leased_beat.store import Member, Roll, boottime

logger = logging.getLogger(__name__)

#: How often a standby writes its record (seconds): one counts for three of these. A holder writes its own each time it
#: looks for a newer version.
ATTEND_EVERY = 1.0
#: How often a holder looks for a newer version (seconds), so that it hands over within a second.
LOOK_FOR_NEWER = 0.4


class Seen(NamedTuple):
    """A replica and the others, as it last found them."""

    own: Member
    others: tuple[Member, ...]


class Admission(Protocol):
    """Whether a standby may take a lease that nobody has. :class:`Presence` is one; the tests' model has another."""

    @property
    def leaves_wake_to_others(self) -> bool:
        """Whether the wake-up of a released lease is somebody else's."""

    def stand_by(self, *, held: bool) -> None:
        """Take in that this look brought nothing; ``held`` says whether somebody has the lease."""

    def admits(self, *, dead: int, rescues: bool) -> bool:
        """Return whether a free lease, or that of the ``dead`` holder of this term, may be taken.

        One that ``rescues`` what the server has lost goes before all others.
        """


class Presence:
    """One replica on the roll; ``outline`` is what is kept of its schedule."""

    def __init__(self, roll: Roll, own: Member, outline: str = "") -> None:
        self._roll = roll
        self._own = own
        self._outline = outline
        self._precedence = Precedence(own.version, serves=own.entries > 0)
        self._attended_at = 0.0
        self._resting_until = 0.0
        self._stands_back_for = ""
        #: Set anew with each look; any thread may read it.
        self.seen = Seen(own, ())

    @property
    def leaves_wake_to_others(self) -> bool:
        """See :class:`Admission`. Newer standbys are to be woken first."""
        return not self._own.entries or any(not other.term for other in self._precedence.newer(self.seen.others))

    def stand_by(self, *, held: bool) -> None:
        """See :class:`Admission`. Raises ``StoreError``."""
        if boottime() - self._attended_at >= ATTEND_EVERY:
            self.attend()
        if held:
            self._precedence.note_held(self.seen.others)

    def admits(self, *, dead: int = 0, rescues: bool = False) -> bool:
        """See :class:`Admission`. Raises ``StoreError``."""
        self.attend()
        if rescues and self._own.entries:
            return True
        newer = self._precedence.newer(other for other in self.seen.others if not dead or other.term != dead)
        if not self._precedence.decide(newer, boottime()):
            self._note_standing_back(newer)
            return False
        if newer:
            logger.warning("the lease lay free though %s is there: it is taken all the same", newer[0].shown)
        return True

    def attend(self, term: int = 0) -> list[Member]:
        """Write the record of this replica, which holds ``term``; return those that go before it.

        Raises ``StoreError``.
        """
        self._attended_at = boottime()
        own = replace(self._own, term=term, ready=self._attended_at >= self._resting_until)
        self.seen = Seen(own, self._roll.attend(own, self._outline))
        return self._precedence.newer(self.seen.others)

    def leave(self) -> None:
        """Take the record away, where that can be done."""
        with suppress(StoreError):
            self._roll.leave(self._own)

    def rest(self, seconds: float) -> None:
        """Ask nobody for the lease for so long: what kept this replica from firing may last."""
        self._resting_until = boottime() + seconds
        self.leave()

    def _note_standing_back(self, newer: list[Member]) -> None:
        name = newer[0].shown if newer else ""
        if name and name != self._stands_back_for:
            logger.info("stands back from the lease for %s", name)
        self._stands_back_for = name
