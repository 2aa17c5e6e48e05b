"""One turn of a replica: plan, claim, publish, commit.

The states a turn may find, and what it then may do:

====================  =====================================================================================
no trusted term       nothing; whatever was planned is forgotten, since a successor plans from the ledger
a new term            load where each entry stands, enqueue again what older terms left claimed
a new server run      the same, within a term
a term                decide each instant in (watermark, now], write the decisions (claim), enqueue, commit
a claim unanswered    send it again unchanged before anything else is planned
a broker outage       enqueue nothing and claim nothing, but probe; when it ends, ``catch_up`` and ``grace`` decide
====================  =====================================================================================

What can fail: the server refuses the token (the term is over), gives no answer (the turn ends, the next one goes on
where it stood), or an entry's own timing raises (that entry waits a minute, the others go on).

The :class:`Decider` plans and claims, the :class:`Outbox` enqueues and commits. Here is what they may do when.
"""

import logging
from collections.abc import Callable, Iterable
from datetime import UTC, datetime, timedelta

from celery_leased_beat.engine.decider import CLAIMS, Decider
from celery_leased_beat.engine.outbox import Outbox
from celery_leased_beat.engine.protocols import Dispatcher, Intent, Ledger, Loaded, Term, Trust
from celery_leased_beat.engine.silence import Silence
from celery_leased_beat.errors import FencedError, StoreError
from celery_leased_beat.schedule import Entry

logger = logging.getLogger(__name__)

#: The wait after a call to the server that failed: short beside an outage, and no load on a server in one.
PAUSE = timedelta(milliseconds=500)
#: A clock that went back by more than this calls for a fresh load, which brings forward what lies further ahead.
CLOCK_STEP = timedelta(minutes=1)


class Engine:
    """Decides each instant of each entry once, for as long as it is trusted.

    A turn gets its time as an argument. A turn may be long where the broker is slow, so a ``clock`` (of the server) is
    asked again for what must not be late: the grace of each fire, right before its publish.
    """

    def __init__(
        self,
        entries: Iterable[Entry],
        ledger: Ledger,
        dispatcher: Dispatcher,
        trust: Trust,
        *,
        namespace: str,
        clock: Callable[[], datetime] | None = None,
    ) -> None:
        self._ledger = ledger
        self._trust = trust
        self._decider = Decider(entries, ledger, trust, namespace)
        self._outbox = Outbox(ledger, dispatcher, trust, clock)
        self._term: Term | None = None
        self._serving_since: datetime | None = None
        self._last_now: datetime | None = None
        self._claims_from = datetime.max.replace(tzinfo=UTC)
        self._silence = Silence(
            logger,
            begins="the lease's server gives no answer, the turn is tried again",
            ends="the lease's server answers again",
        )

    def turn(self, now: datetime) -> datetime | None:
        """Do what is due at ``now`` (of the server's clock); return when to come again, None for never by itself."""
        term = self._trust.term()
        if term is None:
            self._serving_since = None
            return None
        try:
            wake = self._serve(term, now)
        except FencedError as error:
            logger.debug("term %s was refused: %s", term.number, error)
            self._trust.fenced(term)
            return None
        except StoreError as error:
            self._silence.note(error)
            return now + PAUSE
        except Exception:
            self._term = None  # an error of our own: where the turn stood is not known, the next one loads it
            raise
        self._silence.end()
        if not self._outbox.outage:
            self._trust.progressed()
        return wake

    def _serve(self, term: Term, now: datetime) -> datetime | None:
        if term == self._term:
            self._outbox.add(self._decider.resend(term, now))
        if term != self._term or self._clock_stepped_back(now):
            self._begin(term, now)
        self._last_now = now
        # A clock that is set back must not make the wait longer.
        self._claims_from = min(self._claims_from, now + term.settling)
        if now < self._claims_from:
            return self._claims_from
        if self._serving_since is None:
            self._serving_since = now
        held_back = self._outbox.holds_back
        self._outbox.flush(term, now)
        if held_back:
            self._serving_since = now
        if not self._outbox.holds_back:
            fires = 1 if self._outbox.doubtful else CLAIMS
            self._outbox.add(self._decider.claim_due(term, now, self._serving_since, fires))
            self._outbox.flush(term, now)
        return self._next_wake(now)

    def _begin(self, term: Term, now: datetime) -> None:
        loaded = self._ledger.load(term, self._decider.keys, self._decider.positions, resume=term.resumes)
        for note in loaded.notes:
            logger.warning("%s", note)
        kept = self._outbox.intents if term.resumes else []
        goes_on = self._term is not None and self._term.token == term.token
        if goes_on or term.settling:
            self._restore(term, kept, loaded)
        intents = {intent.fire.id: intent for intent in [*kept, *loaded.intents]}
        self._outbox.replace(sorted(intents.values(), key=lambda intent: intent.fire.instant))
        self._decider.begin(loaded.positions)
        self._serving_since = None
        if not goes_on:
            self._claims_from = now + term.settling
        self._term = term

    def _restore(self, term: Term, kept: Iterable[Intent], loaded: Loaded) -> None:
        """Give back to a server that has lost data what this replica alone still has to enqueue."""
        known = {intent.fire.id for intent in loaded.intents}
        if lost := [intent for intent in kept if intent.fire.id not in known]:
            self._ledger.keep(term, lost)

    def _next_wake(self, now: datetime) -> datetime | None:
        if self._decider.unanswered:
            return now + PAUSE
        wakes = [self._outbox.next(now)]
        if not self._outbox.holds_back:
            wakes.append(self._decider.next)
        return min((wake for wake in wakes if wake is not None), default=None)

    def _clock_stepped_back(self, now: datetime) -> bool:
        return self._last_now is not None and now < self._last_now - CLOCK_STEP
