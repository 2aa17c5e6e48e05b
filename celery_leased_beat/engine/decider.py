"""Which instants are due, and the ledger's word on each: plan, then claim.

A claim without an answer is kept as it was sent: within its term it is sent again, before anything else is planned.
"""

import logging
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

from celery_leased_beat.engine.agenda import Agenda, Item
from celery_leased_beat.engine.claims import claims_of
from celery_leased_beat.engine.protocols import Claim, EntryKey, Intent, Ledger, Position, Term, Trust, Verdict
from celery_leased_beat.plan import BURST, Decision
from celery_leased_beat.schedule import Entry

logger = logging.getLogger(__name__)

#: About so many claims a turn, and no more fires: as many as one script may carry without holding the server up (7 ms).
CLAIMS = 500


class Decider:
    """The entries of a replica, and where each of them stands.

    What raises ``FencedError`` or ``StoreError`` here is the ledger's call.
    """

    def __init__(self, entries: Iterable[Entry], ledger: Ledger, trust: Trust, namespace: str) -> None:
        self._entries = {EntryKey(entry.name, entry.timing.key): entry for entry in entries}
        self._ledger = ledger
        self._trust = trust
        self._namespace = namespace
        self._positions: dict[EntryKey, Position] = {}
        self._agenda = Agenda({}, {})
        self._unanswered: list[tuple[Item, Claim]] = []

    @property
    def keys(self) -> Sequence[EntryKey]:
        """The keys of all entries."""
        return list(self._entries)

    @property
    def positions(self) -> Mapping[EntryKey, Position]:
        """Where this replica has seen the entries stand, in whichever term."""
        return self._positions

    @property
    def unanswered(self) -> bool:
        """Whether a claim waits to be sent again."""
        return bool(self._unanswered)

    @property
    def next(self) -> datetime | None:
        """When the next entry is to be looked at; None where no entry has an instant ahead."""
        return self._agenda.next

    def begin(self, positions: Mapping[EntryKey, Position]) -> None:
        """Go on from where the ledger has just said that the entries stand."""
        self._positions.update(positions)
        self._agenda = Agenda(self._entries, self._positions)
        self._unanswered = []

    def claim_due(self, term: Term, now: datetime, serving_since: datetime, most: int) -> list[Intent]:
        """Decide what is due at ``now``, so that ``most`` fires are claimed at most; return their intents."""
        batch: list[tuple[Item, Claim]] = []
        idle: list[Item] = []
        left = most
        for item in self._agenda.take_due(now):
            try:
                claims = claims_of(item, now, serving_since, self._namespace, term, min(BURST, left))
            except Exception:
                self._agenda.set_aside(item, now)
                continue
            batch += [(item, claim) for claim in claims]
            if not claims:
                idle.append(item)
            left -= sum(claim.intent is not None for claim in claims)
            if left == 0 or len(batch) >= CLAIMS:
                break
        for item in idle:
            self._agenda.put_back(item, now)
        return self._claim(term, batch, now)

    def resend(self, term: Term, now: datetime) -> list[Intent]:
        """Send the claim again that had no answer, where there is one; return the intents that were claimed."""
        return self._claim(term, self._unanswered, now)

    def _claim(self, term: Term, batch: list[tuple[Item, Claim]], now: datetime) -> list[Intent]:
        if not batch:
            return []
        self._unanswered = batch
        if self._trust.term() != term:
            return []
        verdicts = self._ledger.claim(term, [claim for _, claim in batch])
        self._unanswered = []
        claimed: list[Intent] = []
        early: set[EntryKey] = set()
        for (item, claim), verdict in zip(batch, verdicts, strict=True):
            if verdict is Verdict.EARLY:
                early.add(item.key)
                continue
            item.decided(claim.decision.last)
            if verdict is Verdict.CLAIMED and claim.intent is not None:
                claimed.append(claim.intent)
            elif verdict is Verdict.CLAIMED:
                _note(item.entry.name, claim.decision)
        for item in {item.key: item for item, _ in batch}.values():
            self._positions[item.key] = item.position
            self._agenda.put_back(item, now, early=item.key in early)
        return claimed


def _note(entry: str, decision: Decision) -> None:
    logger.info(
        "%s %s: %d instants from %s to %s (%s)",
        entry,
        decision.outcome,
        decision.count,
        decision.first.isoformat(),
        decision.last.isoformat(),
        decision.reason,
        extra={"entry": entry},
    )
