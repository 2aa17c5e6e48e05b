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
the roll releases the lease as it does at a stop, and stands by; see ``precedence``. The standby's part is in
``contender``, the holder's in ``holding``.
"""

import logging
import threading
from collections.abc import Callable
from datetime import timedelta

from celery_leased_beat.election.belief import MARGIN, Belief
from celery_leased_beat.election.contender import Contender, Won
from celery_leased_beat.election.holding import RETRY, End, Holding, retry_pause
from celery_leased_beat.election.presence import Presence
from celery_leased_beat.election.waker import Waker
from celery_leased_beat.engine import Silence, Term
from celery_leased_beat.errors import StoreError
from celery_leased_beat.store import Lease, boottime

logger = logging.getLogger(__name__)


class Election:
    """Competes for one lease; satisfies the engine's ``Trust``.

    ``replica`` says who this is, for people. ``on_change`` is called, in this object's thread, when the term or the
    trust in it has changed. ``presence`` is what the other replicas know of this one.
    """

    def __init__(
        self, lease: Lease, replica: str, presence: Presence, *, ttl: timedelta, on_change: Callable[[], None]
    ) -> None:
        self._lease = lease
        self._presence = presence
        self._ttl = ttl.total_seconds()
        self._waker = Waker()
        self._contender = Contender(lease, replica, presence, trusted_for=ttl * (1 - MARGIN))
        self._belief = Belief(self._ttl)
        self._holding = Holding(
            lease, replica, presence, self._belief, self._waker,
            ttl=self._ttl, on_change=on_change, stopping=lambda: self._stopping,
        )  # fmt: skip
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
        self._holding.progressed()

    # What follows runs in the thread.

    def _run(self) -> None:
        while not self._stopping:
            try:
                self._cool()
                won = self._contend()
                if won is not None and self._holding.serve(won) is End.GIVEN_UP:
                    self._cooling_until = boottime() + self._ttl / 3
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
                self._waker.wait(retry_pause())
                continue
            if won is not None:
                return won
        if self._contender.unanswered is not None:
            self._holding.release(self._contender.unanswered)
        return None
