"""The engine on a real ledger: what is claimed, published and committed, and what an error leaves behind."""

import itertools
import logging
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest

from celery_leased_beat.engine import Engine, Intent, Term
from celery_leased_beat.engine.outbox import COMMIT
from celery_leased_beat.errors import BrokerError
from celery_leased_beat.fires import fire_id, to_milliseconds
from celery_leased_beat.plan import Policy
from celery_leased_beat.schedule import Entry, EventTarget
from celery_leased_beat.store import Keys, Lease, Ledger, ServerClock, connect, dedicated
from celery_leased_beat.timing import AskAgain, Every
from tests.nodes.proxy import Proxy
from tests.nodes.waiting import wait_until

SECOND = timedelta(seconds=1)
TICK = timedelta(milliseconds=100)


@dataclass
class Tenure:
    """A lease that this test holds, as the trust of an engine."""

    lease: Lease
    held: Term | None = None
    refused: list[Term] = field(default_factory=list)

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

    def progressed(self) -> None: ...


class Broker:
    """Takes messages, unless it was told to fail."""

    def __init__(self) -> None:
        self.received: list[Intent] = []
        self.error: Exception | None = None

    def publish(self, intent: Intent) -> None:
        if self.error:
            raise self.error
        self.received.append(intent)

    def instants(self, entry: str = "tick") -> list[datetime]:
        return [intent.fire.instant for intent in self.received if intent.fire.entry == entry]


class Strange:
    """A timing that answers as it is told: with a value, or by raising it."""

    def __init__(self, next_after: object, count: object = 0) -> None:
        self.key = "strange"
        self._answers = next_after, count

    def next_after(self, instant: datetime) -> datetime | None:
        return answered(self._answers[0], instant)

    def count(self, after: datetime, until: datetime) -> int:
        return answered(self._answers[1], until)

    def resolved(self, zone: object) -> "Strange":
        return self

    def anchored(self, anchor: datetime) -> "Strange":
        return self


def answered(answer: Any, asked: datetime) -> Any:
    if isinstance(answer, Exception):
        raise answer
    return asked + answer if isinstance(answer, timedelta) else answer


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
        self.ledger = Ledger(connect(ledger_url or url, timeout=SECOND / 4), self.keys, self.clock, replica="test:1")

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

    def outcomes(self, name: str = "tick") -> list[str]:
        records = self.ledger.history(datetime(2020, 1, 1, tzinfo=UTC), datetime(2100, 1, 1, tzinfo=UTC), name)
        return [record.outcome for record in records]


@pytest.fixture
def bench(server_url: str, namespace: str) -> Iterator[Bench]:
    bench = Bench(server_url, namespace)
    yield bench
    bench.lease.close()


def grid(instants: list[datetime]) -> list[timedelta]:
    return [later - earlier for earlier, later in itertools.pairwise(instants)]


def test_without_trust_a_turn_does_nothing(bench, client):
    assert bench.engine(entry()).turn(datetime.now(UTC)) is None
    assert client.keys("*") == []


def test_each_instant_of_the_grid_is_enqueued_once_in_order_under_its_id(bench, client):
    bench.tenure.begin()
    instants = bench.turn_until(bench.engine(entry(catch_up="all")), 8)
    assert set(grid(instants)) == {TICK}
    assert [intent.fire.id for intent in bench.broker.received] == [
        fire_id(bench.namespace, "tick", instant) for instant in instants
    ]
    assert client.hlen(bench.keys.intents) == 0


def test_each_fire_that_is_enqueued_is_a_line_of_the_log(bench, caplog):
    caplog.set_level(logging.INFO, "celery_leased_beat.engine.outbox")
    bench.tenure.begin()
    bench.turn_until(bench.engine(entry(catch_up="all")), 3)
    lines = [record.getMessage() for record in caplog.records if record.getMessage().startswith("enqueued ")]
    assert lines == [
        f"enqueued tick (job:tick): its instant {intent.fire.instant.isoformat()}, fire {intent.fire.id}"
        for intent in bench.broker.received
    ]


def test_the_next_term_goes_on_where_the_last_one_ended(bench):
    bench.tenure.begin()
    bench.turn_until(bench.engine(entry(catch_up="all")), 3)
    bench.tenure.end()
    bench.tenure.begin()
    assert set(grid(bench.turn_until(bench.engine(entry(catch_up="all")), 8))) == {TICK}


def test_a_claimed_fire_whose_holder_died_is_enqueued_by_the_successor_under_its_id(bench, client):
    bench.tenure.begin()
    bench.broker.error = BrokerError("gone")
    first = bench.engine(entry(catch_up="all"))
    wait_until(lambda: first.turn(bench.now()) and client.hlen(bench.keys.intents), "an intent")
    stranded = client.hkeys(bench.keys.intents)
    bench.tenure.end()
    bench.tenure.begin()
    bench.broker.error = None
    bench.turn_until(bench.engine(entry(catch_up="all")), 5)
    assert next(intent.fire.id for intent in bench.broker.received) in stranded
    assert set(grid(bench.broker.instants())) == {TICK}


def test_a_term_that_ends_in_a_burst_leaves_few_fires_to_be_enqueued_a_second_time(bench, client):
    """A plain task has no marker, so it runs as often as it is enqueued."""
    bench.tenure.begin()
    names = [f"tick-{number}" for number in range(3 * COMMIT)]
    timing = Every(60 * SECOND)
    bench.engine(*(entry(name, timing=timing) for name in names)).turn(bench.now())
    early = {f"{len(name)}:{name}:{timing.key}": to_milliseconds(bench.now() - 61 * SECOND) for name in names}
    client.hset(bench.keys.state, mapping={field: f"{at} {at} 1" for field, at in early.items()})
    bench.tenure.end()

    bench.tenure.begin()
    publish = bench.broker.publish

    def publish_until_the_end(intent: Intent) -> None:
        publish(intent)
        if len(bench.broker.received) == 2 * COMMIT + 3:
            bench.tenure.end()

    bench.broker.publish = publish_until_the_end
    bench.engine(*(entry(name, timing=timing) for name in names)).turn(bench.now())
    assert len(bench.broker.received) == 2 * COMMIT + 3
    bench.tenure.begin()
    bench.engine(*(entry(name, timing=timing) for name in names)).turn(bench.now())
    assert len({intent.fire.id for intent in bench.broker.received}) == len(names)
    assert len(bench.broker.received) == len(names) + 3


def test_an_entry_that_the_successor_does_not_have_is_enqueued_all_the_same(bench, client):
    bench.tenure.begin()
    bench.broker.error = BrokerError("gone")
    first = bench.engine(entry("removed"))
    wait_until(lambda: first.turn(bench.now()) and client.hlen(bench.keys.intents), "an intent")
    bench.tenure.end()
    bench.tenure.begin()
    bench.broker.error = None
    bench.turn_until(bench.engine(entry("added")), 1, "removed")


def test_a_broker_outage_holds_claims_back_and_ends_in_what_catch_up_says(bench, client):
    bench.tenure.begin()
    engine = bench.engine(entry("all", catch_up="all"), entry("latest"), entry("skip", catch_up="skip"))
    bench.turn_until(engine, 2, "all")
    bench.broker.error = BrokerError("gone")
    started = bench.now()
    wait_until(lambda: engine.turn(bench.now()) and bench.now() - started > 10 * TICK, "an outage of ten instants")
    assert client.hlen(bench.keys.intents) <= 3
    ended = bench.now()
    bench.broker.error = None
    wait_until(lambda: engine.turn(bench.now()) and bench.broker.instants("latest")[-1] > ended + 2 * SECOND, "the end")
    assert set(grid(bench.broker.instants("all"))) == {TICK}
    assert "coalesced" in bench.outcomes("latest")
    assert "skipped" in bench.outcomes("skip")
    during = [instant for instant in bench.broker.instants("skip") if started + TICK < instant < ended]
    assert during == []


def test_a_clock_that_is_set_back_makes_no_outage_of_the_broker_longer(bench):
    """As after a failover to a primary whose clock is behind, which is the broker too."""
    bench.tenure.begin()
    engine = bench.engine(entry())
    bench.turn_until(engine, 1)
    bench.broker.error = BrokerError("gone")
    wait_until(lambda: (engine.turn(bench.now()), engine._outbox.outage)[1], "an outage")
    bench.broker.error = None
    engine.turn(bench.now() - 600 * SECOND)
    assert engine.turn(bench.now() - 598 * SECOND)
    assert not engine._outbox.outage
    assert len(bench.broker.received) == 2


def test_a_clock_that_is_set_back_makes_no_wait_of_a_refused_fire_longer(bench):
    bench.tenure.begin()
    engine = bench.engine(entry())
    bench.turn_until(engine, 1)
    bench.broker.error = ValueError("cannot be encoded")
    wait_until(lambda: (engine.turn(bench.now()), engine._outbox.intents)[1], "a refused fire")
    bench.broker.error = None
    outbox, now = engine._outbox, bench.now() - 600 * SECOND
    outbox.flush(bench.tenure.term(), now)
    assert outbox.intents == []


def test_a_fire_that_is_refused_is_tried_ten_times_and_then_recorded_as_failed(bench, client):
    bench.tenure.begin()
    engine = bench.engine(entry("bad", timing=Every(60 * SECOND)))
    bench.broker.error = ValueError("cannot be encoded")
    engine.turn(bench.now())
    watermark = client.hget(bench.keys.state, "3:bad:every 60000")
    moved = bench.now() - 61 * SECOND
    milliseconds = int(moved.timestamp() * 1000)
    client.hset(bench.keys.state, "3:bad:every 60000", f"{milliseconds} {milliseconds} {watermark.split()[2]}")
    bench.tenure.end()
    bench.tenure.begin()
    engine = bench.engine(entry("bad", timing=Every(60 * SECOND)))
    now = bench.now()
    for minutes in range(10):
        assert bench.outcomes("bad").count("failed") == 0
        assert client.hlen(bench.keys.intents) == (1 if minutes else 0)
        engine.turn(now + minutes * SECOND * 61 if minutes else now)
    assert bench.outcomes("bad").count("failed") == 1
    assert client.hlen(bench.keys.intents) == 0


def test_an_intent_past_its_grace_is_recorded_as_skipped_and_not_enqueued(bench, client):
    bench.tenure.begin()
    engine = bench.engine(entry(timing=Every(SECOND), grace=2 * SECOND))
    bench.broker.error = BrokerError("gone")
    wait_until(lambda: engine.turn(bench.now()) and client.hlen(bench.keys.intents), "an intent")
    bench.broker.error = None
    engine.turn(bench.now() + 5 * SECOND)
    assert bench.broker.received == []
    assert "skipped" in bench.outcomes()
    assert client.hlen(bench.keys.intents) == 0


def test_a_fenced_engine_changes_nothing_and_says_so(bench, client):
    term = bench.tenure.begin()
    engine = bench.engine(entry(catch_up="all"))
    bench.turn_until(engine, 2)
    client.set(bench.keys.lease, "foreign")
    before = client.hgetall(bench.keys.state)
    wait_until(lambda: engine.turn(bench.now()) is None, "it was refused")
    assert bench.tenure.refused == [term]
    assert client.hgetall(bench.keys.state) == before


def test_a_claim_whose_reply_is_lost_is_sent_again_and_each_fire_is_enqueued_once(server, server_url, namespace):
    with Proxy(server.port) as proxy:
        bench = Bench(server_url, namespace, ledger_url=proxy.url)
        bench.tenure.begin()
        engine = bench.engine(entry(catch_up="all"))
        bench.turn_until(engine, 2)
        held = proxy.hold(b"job:tick", "reply")  # a claim carries the intent's task
        wait_until(lambda: engine.turn(bench.now()) and held.seen.is_set(), "a lost reply")
        instants = bench.turn_until(engine, 8)
        assert set(grid(instants)) == {TICK}
        bench.lease.close()


STRANGE = {
    "raises": (Strange(RuntimeError("no idea"), RuntimeError("no idea")), 1),
    "raises when it is asked for the next": (Strange(RuntimeError("no idea")), 1),
    "raises where something is due": (Strange(RuntimeError("no idea"), 1), 1),
    "tells a time without a zone": (Strange(datetime(2026, 1, 1)), 1),  # noqa: DTZ001
    "tells no time": (Strange("later"), 1),
    "asks for patience": (Strange(AskAgain(datetime(2100, 1, 1, tzinfo=UTC))), 0),
    "has none any more": (Strange(None), 0),
    "says that something is due and has none": (Strange(None, 1), 0),
    "is due in a year": (Strange(timedelta(days=365)), 0),
}


@pytest.mark.parametrize(("timing", "warnings"), STRANGE.values(), ids=STRANGE.keys())
def test_an_entry_whose_timing_is_strange_does_not_stop_the_others(bench, caplog, timing, warnings):
    bench.tenure.begin()
    engine = bench.engine(entry("strange", timing=timing), entry(catch_up="all"))
    assert set(grid(bench.turn_until(engine, 8))) == {TICK}
    assert sum("cannot be planned" in record.getMessage() for record in caplog.records) == warnings


def test_an_error_of_our_own_ends_the_turn_and_the_next_one_goes_on(bench, monkeypatch):
    bench.tenure.begin()
    engine = bench.engine(entry(catch_up="all"))
    bench.turn_until(engine, 2)
    write, after = bench.ledger.claim, [False, True]

    def fail_before_and_after(term, claims):
        if after.pop():
            write(term, claims)
        if not after:
            monkeypatch.undo()
        raise ZeroDivisionError

    for _ in range(2):
        monkeypatch.setattr(bench.ledger, "claim", fail_before_and_after)
        with pytest.raises(ZeroDivisionError):
            wait_until(lambda: not engine.turn(bench.now()), "a claim")
    assert set(grid(bench.turn_until(engine, 8))) == {TICK}


def test_a_rolling_deploy_loses_and_doubles_nothing_of_what_both_versions_have(bench):
    old, new = (
        lambda: bench.engine(entry(catch_up="all"), entry("removed", catch_up="all")),
        lambda: bench.engine(entry(catch_up="all"), entry("added", catch_up="all")),
    )
    counts = []
    for version in (old, new, old, new):
        bench.tenure.begin()
        bench.turn_until(version(), len(bench.broker.instants()) + 3)
        bench.tenure.end()
        counts.append((len(bench.broker.instants("removed")), len(bench.broker.instants("added"))))
    assert set(grid(bench.broker.instants())) == {TICK}
    assert counts[0][1] == 0 < counts[1][1] <= counts[2][1] < counts[3][1], "the new entry fires"
    assert counts[0][0] == counts[1][0] <= counts[2][0] == counts[3][0], "the old one ends with the last old replica"


def test_no_claim_is_made_before_an_older_holder_has_lost_its_trust(bench):
    bench.tenure.begin(settling=SECOND)
    engine = bench.engine(entry(catch_up="all"))
    begun = bench.now()
    assert engine.turn(begun) == begun + SECOND
    assert bench.broker.received == []
    instants = bench.turn_until(engine, 5)
    assert instants[0] < begun + SECOND


def test_a_clock_that_is_set_back_does_not_make_that_wait_longer(bench):
    bench.tenure.begin(settling=SECOND)
    engine = bench.engine(entry(catch_up="all"))
    begun = bench.now()
    assert engine.turn(begun + timedelta(hours=1)) == begun + timedelta(hours=1) + SECOND
    assert engine.turn(begun) == begun + SECOND


def test_the_grace_of_each_fire_is_checked_right_before_its_publish(bench):
    bench.tenure.begin()
    passed = timedelta()

    def slow_publish(intent: Intent) -> None:
        nonlocal passed
        passed += SECOND
        bench.broker.received.append(intent)

    bench.broker.publish = slow_publish
    engine = Engine(
        [entry(f"tick-{number}", timing=Every(SECOND), grace=2 * SECOND) for number in range(5)],
        bench.ledger, bench.broker, bench.tenure, namespace=bench.namespace, clock=lambda: bench.now() + passed,
    )  # fmt: skip
    wait_until(lambda: engine.turn(bench.now()) and bench.broker.received, "a first message")
    late = [outcome for number in range(5) for outcome in bench.outcomes(f"tick-{number}") if outcome == "skipped"]
    assert len(bench.broker.received) + len(late) == 5
    assert late


def test_a_publish_over_a_broken_connection_is_tried_again_at_once_but_only_on_trust(bench):
    bench.tenure.begin()
    engine = bench.engine(entry(catch_up="all"))
    bench.turn_until(engine, 1)
    tries: list[Intent] = []

    def broken_once(intent: Intent) -> None:
        tries.append(intent)
        if len(tries) == 1:
            raise BrokerError("broken")
        bench.broker.received.append(intent)

    bench.broker.publish = broken_once
    bench.turn_until(engine, 3)
    assert tries[0] == tries[1]

    def loses_trust(intent: Intent) -> None:
        tries.append(intent)
        bench.tenure.held = None
        raise BrokerError("broken")

    bench.broker.publish, tries[:] = loses_trust, []
    wait_until(lambda: engine.turn(bench.now()) is None, "the trust is gone")
    assert len(tries) == 1


def test_a_replica_that_resumes_after_a_flush_loses_and_doubles_nothing(bench, client):
    bench.tenure.begin()
    engine = bench.engine(entry(catch_up="all"))
    bench.turn_until(engine, 3)
    client.flushall()
    bench.tenure.begin(resumes=True)
    assert set(grid(bench.turn_until(engine, 10))) == {TICK}


def test_a_term_that_goes_on_with_an_older_snapshot_loses_and_doubles_nothing(bench, client):
    bench.tenure.begin()
    engine = bench.engine(entry(catch_up="all"))
    bench.turn_until(engine, 3)
    kept = {key: client.dump(key) for key in (bench.keys.state, bench.keys.history)}
    known = len(bench.outcomes())
    bench.turn_until(engine, 6)
    bench.broker.error = BrokerError("out of reach")

    def waits() -> bool:
        engine.turn(bench.now())
        return bool(client.hlen(bench.keys.intents))

    wait_until(waits, "a fire that was claimed and not enqueued")
    client.delete(bench.keys.intents)
    for key, value in kept.items():
        client.restore(key, 0, value, replace=True)
    bench.tenure.held = bench.tenure.held.in_run("another")
    bench.broker.error = None
    engine.turn(bench.now())
    assert bench.outcomes()[known] == "recalled"
    assert set(grid(bench.turn_until(engine, 12))) == {TICK}
    assert sorted(set(bench.outcomes())) == ["fired", "recalled"]
    bench.tenure.end()

    # Nobody else decides again what this one has: the ledger knows it by now.
    bench.tenure.begin()
    successor = bench.engine(entry(catch_up="all"))
    assert set(grid(bench.turn_until(successor, 16))) == {TICK}


def test_a_fire_that_waits_for_the_broker_during_a_flush_is_enqueued_by_the_successor(bench, client):
    bench.tenure.begin()
    engine = bench.engine(entry(catch_up="all"))
    bench.turn_until(engine, 2)
    bench.broker.error = BrokerError("out of reach")

    def waits() -> bool:
        engine.turn(bench.now())
        return bool(client.hlen(bench.keys.intents))

    wait_until(waits, "a fire that was claimed and not enqueued")
    client.flushall()
    bench.tenure.begin(resumes=True, settling=TICK)
    engine.turn(bench.now())
    bench.tenure.end()

    bench.tenure.begin()
    bench.broker.error = None
    successor = bench.engine(entry(catch_up="all"))
    assert set(grid(bench.turn_until(successor, 8))) == {TICK}


def test_a_server_that_gives_no_answer_ends_the_turn_and_not_the_engine(server, server_url, namespace):
    with Proxy(server.port) as proxy:
        bench = Bench(server_url, namespace, ledger_url=proxy.url)
        bench.tenure.begin()
        engine = bench.engine(entry(catch_up="all"))
        bench.turn_until(engine, 2)
        proxy.freeze()
        due = bench.now() + 2 * TICK
        assert engine.turn(due) > due
        received = len(bench.broker.received)
        proxy.thaw()
        assert set(grid(bench.turn_until(engine, received + 5))) == {TICK}
        bench.lease.close()
