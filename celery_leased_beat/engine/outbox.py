"""The intents of a term that are still to be enqueued, and how they are tried.

An intent leaves in one of three ways: enqueued (committed), past its grace (skipped), refused ten times (failed). Two
kinds of errors differ. One of the connection stops all publishing for a moment and holds new claims back, so that an
outage ends in what ``catch_up`` and ``grace`` say and not in a heap of intents; after it one fire at a time is claimed,
until a message has got through. One of a single fire (an argument that cannot be encoded, a queue that is refused)
concerns that fire alone.
"""

import logging
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from celery_leased_beat.engine.protocols import Dispatcher, Intent, Ledger, Term, Trust
from celery_leased_beat.errors import BrokerError, FencedError, StoreError
from celery_leased_beat.plan import Outcome

logger = logging.getLogger(__name__)

#: How often one fire is tried before it is recorded as failed: four minutes, with the waits between.
ATTEMPTS = 10
#: The wait after a first failure of one fire; it doubles with each further one.
BACKOFF = timedelta(seconds=1)
#: The longest wait between two tries of one fire.
LONGEST_BACKOFF = timedelta(seconds=60)
#: The wait between two tries of a broker that is out of reach: short, since everybody waits for an outage's end.
OUTAGE_PAUSE = timedelta(seconds=1)
#: So many fires are committed together: as many may be enqueued a second time where the term ends in the middle of a
#: burst, and a plain task, which has no marker, runs as often.
COMMIT = 20
#: A fire that is enqueued later than this after its instant is called late in the log.
LATE = timedelta(seconds=5)


@dataclass(slots=True)
class _Waiting:
    intent: Intent
    attempts: int = 0
    due: datetime | None = None

    def waits(self, now: datetime) -> bool:
        """Whether its next try is still ahead; one that is further ahead than any wait is one of a clock set back."""
        return self.due is not None and now < self.due <= now + LONGEST_BACKOFF


class Outbox:
    """Publishes intents for as long as the term is trusted, and commits what was enqueued."""

    def __init__(
        self, ledger: Ledger, dispatcher: Dispatcher, trust: Trust, clock: Callable[[], datetime] | None = None
    ) -> None:
        self._clock = clock
        self._ledger = ledger
        self._dispatcher = dispatcher
        self._trust = trust
        self._waiting: deque[_Waiting] = deque()
        self._enqueued: list[str] = []
        self._probe_at: datetime | None = None
        self._doubtful = False

    @property
    def outage(self) -> bool:
        """Whether the last publish did not reach the broker."""
        return self._probe_at is not None

    @property
    def doubtful(self) -> bool:
        """Whether no message has got through since the last outage: then one claim at a time is enough."""
        return self._doubtful

    @property
    def holds_back(self) -> bool:
        """Whether an outage holds new claims back. Where no intent waits, one claim is let through: it is the probe."""
        return self.outage and bool(self._waiting)

    @property
    def intents(self) -> list[Intent]:
        """The intents that wait to be enqueued."""
        return [waiting.intent for waiting in self._waiting]

    def next(self, now: datetime) -> datetime | None:
        """When something is to be tried or committed next; None where nothing waits."""
        if self._enqueued:
            return now
        if not self._waiting:
            return self._probe_at
        return self._probe_at or min(waiting.due or now for waiting in self._waiting)

    def replace(self, intents: Iterable[Intent]) -> None:
        """Begin a term: these, and nothing else, are to be enqueued."""
        self._waiting = deque(_Waiting(intent) for intent in intents)
        self._enqueued = []

    def add(self, intents: Iterable[Intent]) -> None:
        """Take intents that were just claimed."""
        self._waiting.extend(map(_Waiting, intents))

    def flush(self, term: Term, now: datetime) -> None:
        """Enqueue what is due and commit it. Raises ``FencedError`` and ``StoreError`` of the ledger's calls."""
        if self._probe_at is not None:  # a clock that is set back must not make the wait longer
            self._probe_at = min(self._probe_at, now + OUTAGE_PAUSE)
        if self._probe_at is None or self._probe_at <= now:
            self._publish(term, now)
        if self._probe_at is not None and self._probe_at <= now and not self._waiting:
            self._reach(now)
        self._commit(term)

    def _publish(self, term: Term, now: datetime) -> None:
        later: list[_Waiting] = []
        answers = True
        try:
            while self._waiting and self._trust.term() == term:
                waiting = self._waiting[0]
                now = self._clock() if self._clock else now
                if not self._settle(term, waiting, now):
                    later.append(waiting)
                self._waiting.popleft()
                if answers and len(self._enqueued) >= COMMIT:
                    answers = self._commit_part(term)
        except BrokerError as error:
            self._note_outage(error, now)
        finally:
            self._waiting.extend(later)

    def _reach(self, now: datetime) -> None:
        """Probe the connection alone: the next fire may be due in hours, and no lease is to be given up for that."""
        try:
            self._dispatcher.reach()
        except BrokerError as error:
            self._note_outage(error, now)
        else:
            self._probe_at = None

    def _settle(self, term: Term, waiting: _Waiting, now: datetime) -> bool:
        """Try one intent; return whether it is done with, in one way or another."""
        intent = waiting.intent
        if not self.outage and waiting.waits(now):  # in an outage each is as good a probe as any
            return False
        if intent.grace is not None and now - intent.fire.instant > intent.grace:
            self._abandon(term, intent, Outcome.SKIPPED, "past its grace")
            return True
        try:
            self._enqueue(term, intent)
        except BrokerError:
            raise
        except Exception as error:
            return self._refused(term, waiting, error, now)
        self._note_enqueued(intent, now)
        return True

    def _enqueue(self, term: Term, intent: Intent) -> None:
        """Publish, and once more where the connection turns out to be broken: an idle one may be so for long."""
        try:
            self._dispatcher.publish(intent)
        except BrokerError:
            if self.outage or self._trust.term() != term:
                raise
            self._dispatcher.publish(intent)

    def _refused(self, term: Term, waiting: _Waiting, error: Exception, now: datetime) -> bool:
        self._probe_at = None  # after an outage the connection is a new one: it could be opened
        self._trust.progressed()
        waiting.attempts += 1
        if waiting.attempts >= ATTEMPTS:
            self._abandon(term, waiting.intent, Outcome.FAILED, f"{type(error).__name__}: {error}")
            return True
        waiting.due = now + min(BACKOFF * 2 ** (waiting.attempts - 1), LONGEST_BACKOFF)
        if waiting.attempts == 1:
            fire = waiting.intent.fire
            logger.warning(
                "the fire of %s at %s was refused, it is tried again: %r",
                fire.entry,
                fire.instant.isoformat(),
                error,
                extra={"fire_id": fire.id},
            )
        return False

    def _abandon(self, term: Term, intent: Intent, outcome: Outcome, reason: str) -> None:
        self._ledger.abandon(term, intent, outcome, reason)
        fire = intent.fire
        level = logging.ERROR if outcome is Outcome.FAILED else logging.WARNING
        logger.log(
            level,
            "the fire of %s at %s is %s: %s",
            fire.entry,
            fire.instant.isoformat(),
            outcome,
            reason,
            extra={"fire_id": fire.id},
        )

    def _note_enqueued(self, intent: Intent, now: datetime) -> None:
        self._enqueued.append(intent.fire.id)
        self._trust.progressed()
        self._probe_at = None
        if self._doubtful:
            self._doubtful = False
            logger.warning("the broker is reached again")
        fire, late = intent.fire, now - intent.fire.instant
        logger.info(
            "enqueued %s (%s): its instant %s, fire %s%s",
            fire.entry, intent.task, fire.instant.isoformat(), fire.id,
            f", {late.total_seconds():.1f} s late" if late > LATE else "", extra={"fire_id": fire.id},
        )  # fmt: skip

    def _note_outage(self, error: BrokerError, now: datetime) -> None:
        if not self._doubtful:
            logger.error("the broker is out of reach, no fire is claimed until it is back: %s", error)
        self._doubtful = True
        self._probe_at = now + OUTAGE_PAUSE

    def _commit_part(self, term: Term) -> bool:
        """Commit in the middle of a burst; return whether an answer came. Without one the others are enqueued first."""
        try:
            self._commit(term)
        except FencedError:
            raise
        except StoreError:
            return False
        return True

    def _commit(self, term: Term) -> None:
        if self._enqueued:
            self._ledger.commit(term, self._enqueued)
            self._enqueued = []
