"""What a holder does with its lease: it renews it, looks for a newer version, and lets it go.

A term ends in one of these ways:

============  =========================================================================================================
lost          a renewal was refused: another replica has the lease, or nobody
given up      no turn of the engine was completed for a whole TTL
handed over   a newer version stands by, and this term has completed a turn and is past its settling
stopped       the replica was told to stop
============  =========================================================================================================
"""

import logging
import random
from collections.abc import Callable
from enum import Enum

from celery_leased_beat.election.belief import Belief
from celery_leased_beat.election.contender import Won
from celery_leased_beat.election.presence import LOOK_FOR_NEWER, Presence
from celery_leased_beat.election.waker import Waker
from celery_leased_beat.engine import Term
from celery_leased_beat.errors import StoreError
from celery_leased_beat.store import Lease, boottime

logger = logging.getLogger(__name__)

#: The longest wait between two tries of a server that gives no answer (seconds): an outage's end is noticed soon.
RETRY = 1.0
#: For how many TTLs a replica that gave the lease up asks no older version for it: what was wrong may last.
TTLS_OF_REST = 10


class End(Enum):
    """How a term ended."""

    LOST = "lost"
    GIVEN_UP = "given up"
    HANDED_OVER = "handed over"
    STOPPED = "stopped"


class Holding:
    """The holder's part, for the election's thread; ``ttl`` in seconds. One object serves all terms of a replica."""

    def __init__(
        self,
        lease: Lease,
        replica: str,
        presence: Presence,
        belief: Belief,
        waker: Waker,
        *,
        ttl: float,
        on_change: Callable[[], None],
        stopping: Callable[[], bool],
    ) -> None:
        self._lease = lease
        self._replica = replica
        self._presence = presence
        self._belief = belief
        self._waker = waker
        self._ttl = ttl
        self._on_change = on_change
        self._stopping = stopping
        self._progress_at = 0.0
        self._handover_from = 0.0
        self._served = False

    def progressed(self) -> None:
        """Note that a turn was completed; from any thread."""
        self._progress_at = boottime()
        self._served = True

    def serve(self, won: Won) -> End:
        """Keep the lease that was ``won`` until its term ends, and return how that came."""
        term = won.term
        logger.info("elected: %s holds the lease, term %s", self._replica, term.number, extra={"term": term.number})
        self._served = False
        self._handover_from = boottime() + term.settling.total_seconds()
        self._progress_at = boottime()
        renewed: tuple[Term, float] | None = term, self._believe(term, won.sent)
        while renewed is not None:
            term, pause = renewed
            end = self._keep_until(boottime() + pause, term)
            if end is not None:
                return end
            renewed = self._renew(term)
        return End.LOST

    def release(self, token: str) -> None:
        """Release what ``token`` holds; a server that gives no answer lets it end by its TTL."""
        self._belief.end()
        try:
            self._lease.release(token)
        except StoreError as error:
            logger.debug("the lease was not released: %s", error)

    def _keep_until(self, renew_at: float, term: Term) -> End | None:
        """Wait until the lease is to be renewed; return how the term ended where it was released instead."""
        while True:
            left = max(0.0, renew_at - boottime())
            broke = self._lease.wait(min(left, LOOK_FOR_NEWER), self._waker)
            if broke:
                self._doubt("its connection broke")
            rung = self._waker.clear()
            if self._stopping():
                self._presence.leave()  # first, or older ones would stand back for it
                self.release(term.token)
                return End.STOPPED
            if self._stuck():
                self._give_up(term)
                return End.GIVEN_UP
            if self._lease.connected and self._hand_over(term):
                return End.HANDED_OVER
            if broke or rung or boottime() >= renew_at:
                return None

    def _hand_over(self, term: Term) -> bool:
        """Release the lease where a newer version waits for it, and this term has done its part."""
        try:
            newer = self._presence.attend(term.number)
        except StoreError as error:
            if not self._lease.connected:
                self._doubt(str(error))
                self._waker.wake()
            return False
        if not newer or not self._served or boottime() < self._handover_from:
            return False
        self.release(term.token)
        logger.info(
            "handed the lease of term %s over: %s is newer", term.number, newer[0].shown, extra={"term": term.number}
        )
        return True

    def _renew(self, term: Term) -> tuple[Term, float] | None:
        """Renew the lease; return the term as it goes on and the seconds until the next try, None where it is lost."""
        sent = boottime()
        try:
            held = self._lease.renew(term.token, self._replica)
        except StoreError as error:
            if not self._lease.connected:
                self._doubt(str(error))
            return term, retry_pause()
        if held is None:
            logger.warning(
                "lost the lease of term %s: another has it, or nobody", term.number, extra={"term": term.number}
            )
            return None
        term = term.in_run(held.run_id)
        return term, self._believe(term, sent)

    def _believe(self, term: Term, sent: float) -> float:
        """Trust ``term`` on the answer to a request of the time ``sent``; return the seconds until the next renewal."""
        if self._belief.renew(term, sent):
            self._progress_at = boottime()
            self._on_change()
        return max(0.0, sent + self._ttl / 3 * random.uniform(0.9, 1.0) - boottime())

    def _doubt(self, why: str) -> None:
        if self._belief.end():
            logger.warning("the lease is not trusted until it is renewed: %s", why)

    def _stuck(self) -> bool:
        return self._belief.exists and boottime() - self._progress_at > self._ttl

    def _give_up(self, term: Term) -> None:
        self._belief.end()
        self._presence.rest(TTLS_OF_REST * self._ttl)
        self.release(term.token)
        logger.warning(
            "gave up the lease of term %s: no turn was completed for %.0f s",
            term.number,
            boottime() - self._progress_at,
            extra={"term": term.number},
        )


def retry_pause() -> float:
    """Return for how long to wait before the next try of a server that gives no answer; replicas keep out of step."""
    return RETRY * random.uniform(0.3, 1.0)
