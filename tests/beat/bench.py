"""One replica's parts on a real server, which a test drives turn by turn."""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from uuid import uuid4

from celery_leased_beat.engine import Engine, Intent, Term
from celery_leased_beat.errors import BrokerError
from celery_leased_beat.plan import Policy
from celery_leased_beat.schedule import Entry, EventTarget
from celery_leased_beat.store import Keys, Lease, Ledger, LedgerReader, Record, ServerClock, connect, dedicated
from celery_leased_beat.timing import Every
from tests.nodes.waiting import wait_until

SECOND = timedelta(seconds=1)
TICK = timedelta(milliseconds=100)


@dataclass
class Tenure:
    """A lease that this test holds, as the trust of an engine."""

    lease: Lease
    held: Term | None = None
    refused: list[Term] = field(default_factory=list)
    progress: int = 0

    def begin(self, **facts: object) -> Term:
        token = uuid4().hex
        held = self.lease.acquire(token, "test:1")
        assert held
        self.held = Term(held.term, token, **facts)
        return self.held

    def end(self) -> None:
        assert self.held
        self.lease.release(self.held.token)
        self.held = None

    def term(self) -> Term | None:
        return self.held

    def fenced(self, term: Term) -> None:
        self.refused.append(term)
        self.held = None

    def progressed(self) -> None:
        self.progress += 1


class Broker:
    """Takes messages, unless it was told to fail, or to refuse those of one entry."""

    def __init__(self) -> None:
        self.received: list[Intent] = []
        self.error: Exception | None = None
        self.refused = ""

    def publish(self, intent: Intent) -> None:
        if intent.fire.entry == self.refused:
            raise ValueError("cannot be encoded")
        if self.error:
            raise self.error
        self.received.append(intent)

    def reach(self) -> None:
        if self.error:
            raise self.error

    def entries(self) -> list[str]:
        return [intent.fire.entry for intent in self.received]

    def instants(self, entry: str = "tick") -> list[datetime]:
        return [intent.fire.instant for intent in self.received if intent.fire.entry == entry]


def entry(name: str = "tick", *, timing: object = None, **policy: object) -> Entry:
    return Entry(name, timing or Every(TICK), f"job:{name}", EventTarget(name, object), policy=Policy(**policy))


class Bench:
    """One replica's parts on one server, driven turn by turn."""

    def __init__(self, url: str, namespace: str, *, ledger_url: str = "") -> None:
        self.namespace = namespace
        self.clock = ServerClock()
        self.keys = Keys(namespace)
        self.lease = Lease(dedicated(url, timeout=SECOND), self.keys, 60 * SECOND, self.clock)
        self.tenure = Tenure(self.lease)
        self.broker = Broker()
        client = connect(ledger_url or url, timeout=SECOND / 4)
        self.ledger = Ledger(client, self.keys, self.clock, replica="test:1")
        self.reader = LedgerReader(client, self.keys)

    def engine(self, *entries: Entry) -> Engine:
        return Engine(entries, self.ledger, self.broker, self.tenure, namespace=self.namespace)

    def now(self) -> datetime:
        return self.clock.now()

    def turn_until(self, engine: Engine, count: int, name: str = "tick") -> list[datetime]:
        """Run turns until the broker has got so many messages of one entry."""

        def enough() -> bool:
            engine.turn(self.now())
            return len(self.broker.instants(name)) >= count

        wait_until(enough, f"{count} messages of {name}")
        return self.broker.instants(name)

    def lose_broker(self, engine: Engine) -> None:
        """Let the broker be out of reach, and run turns until that was met."""
        self.broker.error = BrokerError("gone")
        wait_until(lambda: (engine.turn(self.now()), engine._outbox.outage)[1], "an outage")

    def records(self, name: str = "tick") -> Sequence[Record]:
        return self.reader.snapshot([], datetime(2020, 1, 1, tzinfo=UTC), name).records

    def outcomes(self, name: str = "tick") -> list[str]:
        return [record.outcome for record in self.records(name)]

    def reasons(self, name: str = "tick") -> list[str]:
        return [record.reason for record in self.records(name)]


def grid(instants: list[datetime]) -> list[timedelta]:
    return [later - earlier for earlier, later in itertools.pairwise(instants)]
