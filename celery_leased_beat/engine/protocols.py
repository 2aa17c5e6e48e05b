"""What the engine asks of the store, of the publisher and of the election.

The engine knows neither Celery nor Redis: it is handed a :class:`Ledger`, a :class:`Dispatcher` and a :class:`Trust`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from enum import Enum
from typing import Any, NamedTuple, Protocol

from celery_leased_beat.fires import Fire
from celery_leased_beat.plan import Decision


@dataclass(frozen=True, slots=True)
class Term:
    """One tenure of the lease: a strictly rising ``number`` and a ``token`` that is new for every term.

    ``settling`` is how long the first claim waits: where the server was restarted or promoted, an old holder may still
    trust a lease that this server no longer knows. ``resumes`` says that no other replica is known to have held the
    lease since this one last did. ``run_id`` names the run of the server, None where it does not say: in another run
    the ledger may have lost what this term wrote, so it is loaded anew.
    """

    number: int
    token: str
    settling: timedelta = timedelta()
    resumes: bool = False
    run_id: str | None = None

    def in_run(self, run_id: str | None) -> "Term":
        """Return this term as it goes on in a run of the server."""
        if run_id in (None, self.run_id):
            return self
        return replace(self, run_id=run_id, resumes=True)


class EntryKey(NamedTuple):
    """Under what the ledger keeps an entry: its name and its timing's key. So a retimed entry has a state apart."""

    name: str
    timing: str


class Position(NamedTuple):
    """Where an entry stands: the last decided instant, and the instant at which it was first seen (aware UTC)."""

    watermark: datetime
    anchor: datetime


@dataclass(frozen=True, slots=True)
class Intent:
    """A fire that was claimed and is not yet known to be enqueued, with all that its publish needs.

    ``args``, ``kwargs`` and ``options`` (of the message) are what the JSON of Celery's messages carries. ``term`` is
    the number of the term that claimed it. ``grace`` is how late the message may still be enqueued; None means however
    late.
    """

    fire: Fire
    task: str
    args: tuple[Any, ...] = ()
    kwargs: Mapping[str, Any] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)
    grace: timedelta | None = None
    term: int = 0


@dataclass(frozen=True, slots=True)
class Claim:
    """One decision that asks to be written; ``intent`` is there where the decision is to fire."""

    key: EntryKey
    decision: Decision
    intent: Intent | None = None


class Verdict(Enum):
    """What the ledger says to one claim.

    CLAIMED: written now, or found as this term's own (a claim sent again after a lost reply). DECIDED: the watermark
    was there already. EARLY: the instant is ahead of the server's clock; nothing was written for it.
    """

    CLAIMED = "claimed"
    DECIDED = "decided"
    EARLY = "early"


@dataclass(frozen=True, slots=True)
class Loaded:
    """The ledger as a new term finds it: where each entry stands, and the intents that nobody committed.

    ``notes`` are sentences for the log: an entry that was retimed, a watermark that was moved back.
    """

    positions: Mapping[EntryKey, Position]
    intents: Sequence[Intent]
    notes: Sequence[str] = ()


class Ledger(Protocol):
    """What was decided for each instant. Every write is fenced by the term's token.

    Each call raises ``FencedError`` where the token is no longer the lease's, ``StoreError`` where no answer came.
    """

    def load(
        self, term: Term, keys: Sequence[EntryKey], remembered: Mapping[EntryKey, Position], *, resume: bool
    ) -> Loaded:
        """Enrol new entries from now and return the state of all in one round trip.

        ``remembered`` are the positions that this replica has seen: a watermark that the ledger gives lower is brought
        forward to it. With ``resume`` no other replica has held the lease since, so an entry that the ledger does
        not know (the server lost its data) goes on where this replica remembers it.
        """

    def claim(self, term: Term, claims: Sequence[Claim]) -> list[Verdict]:
        """Write the decisions, one verdict each. A call without a reply may be sent again unchanged."""

    def commit(self, term: Term, fire_ids: Sequence[str]) -> None:
        """End the intents of fires that were enqueued."""

    def keep(self, term: Term, intents: Sequence[Intent]) -> None:
        """Write again the intents that the server has lost; one that is there stays as it is."""

    def abandon(self, term: Term, intent: Intent, outcome: str, reason: str) -> None:
        """End one intent that will not be enqueued, and write to the history why."""


class Dispatcher(Protocol):
    """Enqueues one message for a fire."""

    def publish(self, intent: Intent) -> None:
        """Enqueue it, within a bounded time. Raises ``BrokerError`` for the connection, anything else for this fire."""

    def reach(self) -> None:
        """Connect to the broker, within a bounded time. Raises ``BrokerError``."""


class Trust(Protocol):
    """What this replica may believe of its own lease, and what it tells the election in return."""

    def term(self) -> Term | None:
        """Return the term while it is trusted, else None. Asked before each claim and before each publish."""

    def fenced(self, term: Term) -> None:
        """Say that the server refused ``term``: it is trusted no longer."""

    def progressed(self) -> None:
        """Say that work goes on; a holder that does not say so for a while gives the lease up."""
