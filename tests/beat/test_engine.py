"""The engine on a real ledger: what is claimed, published and committed, and what an error leaves behind.

Its broker is in ``test_engine_broker``, a server that loses data in ``test_engine_lost_data``.
"""

import logging
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import redis

from celery_leased_beat.engine import Claim, Term
from celery_leased_beat.errors import BrokerError
from celery_leased_beat.fires import fire_id
from celery_leased_beat.timing import AskAgain
from examples.valkey import Server
from tests.beat.bench import SECOND, TICK, Bench, entry, grid
from tests.nodes.proxy import Proxy
from tests.nodes.waiting import wait_until


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


def test_without_trust_a_turn_does_nothing(bench: Bench, client: redis.Redis) -> None:
    assert bench.engine(entry()).turn(datetime.now(UTC)) is None
    assert client.keys("*") == []


def test_each_instant_of_the_grid_is_enqueued_once_in_order_under_its_id(bench: Bench, client: redis.Redis) -> None:
    bench.tenure.begin()
    instants = bench.turn_until(bench.engine(entry(catch_up="all")), 8)
    assert set(grid(instants)) == {TICK}
    assert [intent.fire.id for intent in bench.broker.received] == [
        fire_id(bench.namespace, "tick", instant) for instant in instants
    ]
    assert client.hlen(bench.keys.intents) == 0


def test_each_fire_that_is_enqueued_is_a_line_of_the_log(bench: Bench, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "celery_leased_beat.engine.outbox")
    bench.tenure.begin()
    bench.turn_until(bench.engine(entry(catch_up="all")), 3)
    lines = [record.getMessage() for record in caplog.records if record.getMessage().startswith("enqueued ")]
    assert lines == [
        f"enqueued tick (job:tick): its instant {intent.fire.instant.isoformat()}, fire {intent.fire.id}"
        for intent in bench.broker.received
    ]


def test_the_next_term_goes_on_where_the_last_one_ended(bench: Bench) -> None:
    bench.tenure.begin()
    bench.turn_until(bench.engine(entry(catch_up="all")), 3)
    bench.tenure.end()
    bench.tenure.begin()
    assert set(grid(bench.turn_until(bench.engine(entry(catch_up="all")), 8))) == {TICK}


def test_a_claimed_fire_whose_holder_died_is_enqueued_by_the_successor_under_its_id(
    bench: Bench, client: redis.Redis
) -> None:
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


def test_an_entry_that_the_successor_does_not_have_is_enqueued_all_the_same(bench: Bench, client: redis.Redis) -> None:
    bench.tenure.begin()
    bench.broker.error = BrokerError("gone")
    first = bench.engine(entry("removed"))
    wait_until(lambda: first.turn(bench.now()) and client.hlen(bench.keys.intents), "an intent")
    bench.tenure.end()
    bench.tenure.begin()
    bench.broker.error = None
    bench.turn_until(bench.engine(entry("added")), 1, "removed")


def test_a_fenced_engine_changes_nothing_and_says_so(bench: Bench, client: redis.Redis) -> None:
    term = bench.tenure.begin()
    engine = bench.engine(entry(catch_up="all"))
    bench.turn_until(engine, 2)
    client.set(bench.keys.lease, "foreign")
    before = client.hgetall(bench.keys.state)
    wait_until(lambda: engine.turn(bench.now()) is None, "it was refused")
    assert bench.tenure.refused == [term]
    assert client.hgetall(bench.keys.state) == before


def test_a_claim_whose_reply_is_lost_is_sent_again_and_each_fire_is_enqueued_once(
    server: Server, server_url: str, namespace: str
) -> None:
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
def test_an_entry_whose_timing_is_strange_does_not_stop_the_others(
    bench: Bench, caplog: pytest.LogCaptureFixture, timing: Strange, warnings: int
) -> None:
    bench.tenure.begin()
    engine = bench.engine(entry("strange", timing=timing), entry(catch_up="all"))
    assert set(grid(bench.turn_until(engine, 8))) == {TICK}
    assert sum("cannot be planned" in record.getMessage() for record in caplog.records) == warnings


def test_an_error_of_our_own_ends_the_turn_and_the_next_one_goes_on(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench.tenure.begin()
    engine = bench.engine(entry(catch_up="all"))
    bench.turn_until(engine, 2)
    write, after = bench.ledger.claim, [False, True]

    def fail_before_and_after(term: Term, claims: Sequence[Claim]) -> None:
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


def test_a_rolling_deploy_loses_and_doubles_nothing_of_what_both_versions_have(bench: Bench) -> None:
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


def test_no_claim_is_made_before_an_older_holder_has_lost_its_trust(bench: Bench) -> None:
    bench.tenure.begin(settling=SECOND)
    engine = bench.engine(entry(catch_up="all"))
    begun = bench.now()
    assert engine.turn(begun) == begun + SECOND
    assert bench.broker.received == []
    instants = bench.turn_until(engine, 5)
    assert instants[0] < begun + SECOND


def test_a_clock_that_is_set_back_does_not_make_that_wait_longer(bench: Bench) -> None:
    bench.tenure.begin(settling=SECOND)
    engine = bench.engine(entry(catch_up="all"))
    begun = bench.now()
    assert engine.turn(begun + timedelta(hours=1)) == begun + timedelta(hours=1) + SECOND
    assert engine.turn(begun) == begun + SECOND


def test_a_server_that_gives_no_answer_ends_the_turn_and_not_the_engine(
    server: Server, server_url: str, namespace: str
) -> None:
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
