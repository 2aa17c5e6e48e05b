"""A standby's tries for the lease, one at a time.

A try either waits, or asks for the lease with a token that no other try has. Where no answer comes, the next try asks
again with the same token: if the first request had its effect, the server says so, and trust counts from that first
request, the earliest moment at which the lease can have begun.
"""

import logging
import random
import time
from dataclasses import dataclass, field
from datetime import timedelta
from uuid import uuid4

from celery_leased_beat.election.presence import Admission
from celery_leased_beat.election.watch import Move, Watch
from celery_leased_beat.engine import Term
from celery_leased_beat.store import Held, Lease, boottime

logger = logging.getLogger(__name__)

#: How long a standby waits on the wake list before it looks again (seconds). Two looks that miss the holder's
#: connection make a takeover, so a dead holder is replaced within about two of these.
LOOK = 0.35


@dataclass(frozen=True, slots=True)
class Won:
    """A lease that was won: its term, and when (of ``boottime``) the request was sent from which trust counts."""

    term: Term
    sent: float


@dataclass(slots=True)
class _Attempt:
    """A token and the first request that carried it; kept until the answer to that request is known."""

    token: str = field(default_factory=lambda: uuid4().hex)
    sent: float | None = None


class Contender:
    """Tries for one lease; ``trusted_for`` is how long a holder trusts one renewal.

    ``admission`` says whether a lease that could be taken is this replica's to take.
    """

    def __init__(self, lease: Lease, replica: str, admission: Admission, *, trusted_for: timedelta) -> None:
        self._lease = lease
        self._replica = replica
        self._admission = admission
        self._trusted_for = trusted_for
        self._watch = Watch()
        self._attempt = _Attempt()

    def attempt(self) -> Won | None:
        """Wait a moment for a wake-up, look, and take the lease where that is allowed. Raises ``StoreError``."""
        attempt = self._attempt
        held = self._begin(attempt) if attempt.sent is None else self._lease.acquire(attempt.token, self._replica)
        if attempt.sent is None:
            return None
        self._attempt = _Attempt()
        return None if held is None else Won(self._term_of(held, attempt.token), attempt.sent)

    @property
    def unanswered(self) -> str | None:
        """The token of a request without an answer, which may have won the lease."""
        return self._attempt.token if self._attempt.sent is not None else None

    def _begin(self, attempt: _Attempt) -> Held | None:
        self._wait(LOOK * random.uniform(0.7, 1.0))
        seen = self._lease.observe()
        move = self._watch.look(seen, boottime())
        if seen.value is not None:
            self._watch.note_term(seen.term, own=False)
        if move is Move.WAIT:
            self._admission.stand_by(held=seen.value is not None)
            return None
        dead = seen.holder.term if seen.holder else 0
        if not self._admission.admits(dead=dead, rescues=self._watch.knows_more(seen)):
            return None
        attempt.sent = boottime()
        if move is Move.REPLACE and seen.value is not None:
            return self._lease.replace(attempt.token, self._replica, seen.value)
        return self._lease.acquire(attempt.token, self._replica)

    def _wait(self, seconds: float) -> None:
        if self._admission.leaves_wake_to_others:
            time.sleep(seconds)
        else:
            self._lease.wait_for_wake(seconds)

    def _term_of(self, held: Held, token: str) -> Term:
        watch = self._watch
        moved = held.previous_run_id not in (None, held.run_id)
        lost_data = held.previous_term < watch.highest_term
        resumes = watch.was_last_holder and held.previous_term <= watch.highest_term
        watch.note_term(held.term, own=True)
        settling = self._trusted_for if moved or lost_data else timedelta()
        if settling:
            logger.info(
                "the lease's server was restarted or replaced: the first claim waits %.1f s, until no older holder can "
                "trust its lease",
                settling.total_seconds(),
            )
        return Term(held.term, token, settling, resumes, held.run_id)
