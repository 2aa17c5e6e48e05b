"""The thread that holds or contends for the lease.

============  =================================================================================================
standby       looks at the lease a few times a second; takes it when it is free, or replaces a dead holder's
holder        renews it every third of its TTL, for as long as the engine makes progress, and looks for a newer version
cooling       gave the lease up for want of progress; lets the others try first
stopped       released what it held, for good
============  =================================================================================================

Trust is a deadline, not a flag: the start of the last successful acquire or renewal, plus the TTL, less a margin, on a
clock that counts suspension. An error proves nothing, so trust then runs on to its end and no further; but when the
connection itself breaks, trust ends until a renewal over a new one has succeeded. The engine asks before each claim and
each publish. Only this thread talks to the server about the lease, over one connection of its own.

What can fail: no answer (tried again soon, with the same token until the answer is known), another holder (standby with
a new token), no progress of the engine for a whole TTL (the lease is given up). A holder that finds a newer version on
the roll releases the lease as it does at a stop, and stands by; see ``precedence``.
"""

import logging
import random
import threading
from collections.abc import Callable
from datetime import timedelta

from celery_leased_beat.election.belief import MARGIN, Belief
from celery_leased_beat.election.contender import Contender, Won
from celery_leased_beat.election.presence import LOOK_FOR_NEWER, Presence
from celery_leased_beat.election.waker import Waker
from celery_leased_beat.engine import Silence, Term
from celery_leased_beat.errors import StoreError
from celery_leased_beat.store import Lease, boottime

logger = logging.getLogger(__name__)

#: The longest wait between two tries of a server that gives no answer (seconds).
RETRY = 1.0
#: For how many TTLs a replica that gave the lease up asks no older version for it: what was wrong may last.
REST = 10


class Election:
    """Competes for one lease; satisfies the engine's ``Trust``.

    ``replica`` says who this is, for people. ``on_change`` is called, in this object's thread, when the term or the
    trust in it has changed. ``presence`` is what the other replicas know of this one.
    """

    def __init__(
        self, lease: Lease, replica: str, presence: Presence, *, ttl: timedelta, on_change: Callable[[], None]
    ) -> None:
        self._lease = lease
        self._replica = replica
        self._presence = presence
        self._ttl = ttl.total_seconds()
        self._on_change = on_change
        self._waker = Waker()
        self._contender = Contender(lease, replica, presence, trusted_for=ttl * (1 - MARGIN))
        self._belief = Belief(self._ttl)
        self._progress_at = 0.0
        self._handover_from = 0.0
        self._served = False
        self._cooling_until = 0.0
        self._stopping = False
        self._silence = Silence(
            logger,
            begins="the lease cannot be looked at, this replica stands by",
            ends="the lease can be looked at again",
        )
        self._thread = threading.Thread(target=self._run, name="leased-beat-election", daemon=True)

    def start(self) -> None:
        """Begin to compete."""
        self._thread.start()

    def stop(self, deadline: float) -> bool:
        """Release the lease and end the thread, by ``deadline`` (of ``boottime``); return whether that was done.

        Safe in a signal handler: it sets a flag, rings a socket pair and joins.
        """
        self.tell_to_stop()
        if self._thread.ident is not None:
            self._thread.join(max(0.0, deadline - boottime()))
        return not self._thread.is_alive()

    def tell_to_stop(self) -> None:
        """Have the thread release the lease and end, without a wait for it."""
        self._stopping = True
        self._waker.wake()

    def term(self) -> Term | None:
        """Return the term while it is trusted, else None."""
        return None if self._stopping else self._belief.term(boottime())

    def fenced(self, term: Term) -> None:
        """Trust ``term`` no longer, and look at once what became of the lease."""
        if self._belief.end(term):
            self._waker.wake()

    def progressed(self) -> None:
        """Note that work goes on."""
        self._progress_at = boottime()
        self._served = True

    # What follows runs in the thread.

    def _run(self) -> None:
        while not self._stopping:
            try:
                self._cool()
                won = self._contend()
                if won is not None:
                    self._hold(won.term, won.sent)
            except Exception:  # an error of our own must end in "not the holder", never in a dead thread
                logger.exception("the election met an error of its own, it goes on as a standby")
                self._waker.wait(RETRY)
            finally:
                self._belief.end()
        self._presence.leave()
        self._lease.close()

    def _cool(self) -> None:
        while not self._stopping and self._cooling_until > boottime():
            self._waker.wait(self._cooling_until - boottime())

    def _contend(self) -> Won | None:
        """Try until the lease is won; None where it is time to stop."""
        while not self._stopping:
            try:
                won = self._contender.attempt()
                self._silence.end()
            except StoreError as error:
                self._silence.note(error)
                self._waker.wait(_retry_pause())
                continue
            if won is not None:
                return won
        if self._contender.unanswered is not None:
            self._release(self._contender.unanswered)
        return None

    def _hold(self, term: Term, sent: float) -> None:
        """Keep ``term`` until it is lost, given up, handed over or released."""
        logger.info("elected: %s holds the lease, term %s", self._replica, term.number, extra={"term": term.number})
        self._served = False
        self._handover_from = boottime() + term.settling.total_seconds()
        self._progress_at = boottime()
        pause: float | None = self._believe(term, sent)
        while pause is not None:
            renew_at = boottime() + pause
            if not self._keep_until(renew_at, term):
                return
            pause = self._renew(term)

    def _keep_until(self, renew_at: float, term: Term) -> bool:
        """Wait until the lease is to be renewed; return False where it was released instead."""
        while True:
            left = max(0.0, renew_at - boottime())
            broke = self._lease.wait(min(left, LOOK_FOR_NEWER), self._waker)
            if broke:
                self._doubt("its connection broke")
            rung = self._waker.clear()
            if self._stopping:
                self._presence.leave()  # first, or older ones would stand back for it
                self._release(term.token)
                return False
            if self._stuck():
                self._give_up(term)
                return False
            if self._lease.connected and self._hand_over(term):
                return False
            if broke or rung or boottime() >= renew_at:
                return True

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
        self._release(term.token)
        logger.info(
            "handed the lease of term %s over: %s is newer", term.number, newer[0].shown, extra={"term": term.number}
        )
        return True

    def _renew(self, term: Term) -> float | None:
        """Renew the lease; return the seconds until the next try, None where the lease is lost."""
        sent = boottime()
        try:
            held = self._lease.renew(term.token, self._replica)
        except StoreError as error:
            if not self._lease.connected:
                self._doubt(str(error))
            return _retry_pause()
        if held is None:
            logger.warning("lost the lease of term %s: another has it, or nobody", term.number)
            return None
        return self._believe(term.in_run(held.run_id), sent)

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
        self._presence.rest(REST * self._ttl)
        self._release(term.token)
        self._cooling_until = boottime() + self._ttl / 3
        logger.warning(
            "gave up the lease of term %s: no turn was completed for %.0f s",
            term.number,
            boottime() - self._progress_at,
        )

    def _release(self, token: str) -> None:
        """Release what ``token`` holds; a server that gives no answer lets it end by its TTL."""
        self._belief.end()
        try:
            self._lease.release(token)
        except StoreError as error:
            logger.debug("the lease was not released: %s", error)


def _retry_pause() -> float:
    return RETRY * random.uniform(0.3, 1.0)
