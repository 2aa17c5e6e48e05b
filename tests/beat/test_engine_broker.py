"""The engine and its broker: what an outage, a refusal and a late publish make of the fires that were claimed."""

from datetime import timedelta

import pytest
import redis

from celery_leased_beat.engine import Engine, Intent
from celery_leased_beat.engine.outbox import COMMIT
from celery_leased_beat.errors import BrokerError
from celery_leased_beat.fires import to_milliseconds
from celery_leased_beat.plan import CatchUp
from celery_leased_beat.timing import Every
from tests.beat.bench import SECOND, TICK, Bench, entry, grid
from tests.nodes.waiting import wait_until


def test_a_term_that_ends_in_a_burst_leaves_few_fires_to_be_enqueued_a_second_time(
    bench: Bench, client: redis.Redis
) -> None:
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


def test_a_broker_outage_holds_claims_back_and_ends_in_what_catch_up_says(
    bench: Bench, client: redis.Redis, caplog: pytest.LogCaptureFixture
) -> None:
    bench.tenure.begin()
    engine = bench.engine(entry("all", catch_up="all"), entry("latest"), entry("skip", catch_up="skip"))
    bench.turn_until(engine, 2, "all")
    bench.lose_broker(engine)
    met = bench.now()
    wait_until(lambda: engine.turn(bench.now()) and bench.now() - met > 10 * TICK, "an outage of ten instants")
    assert client.hlen(bench.keys.intents) <= 3
    ended = bench.now()
    bench.broker.error = None
    wait_until(lambda: engine.turn(bench.now()) and bench.broker.instants("latest")[-1] > ended + 2 * SECOND, "the end")
    assert set(grid(bench.broker.instants("all"))) == {TICK}
    assert "coalesced" in bench.outcomes("latest")
    assert "skipped" in bench.outcomes("skip")
    # What was due before the outage was met, on a machine that stood still, was claimed before it.
    during = [instant for instant in bench.broker.instants("skip") if met < instant < ended]
    assert during == []
    begins, ends = (f"the broker is {state}" for state in ("out of reach", "reached again"))
    lines = [line for message in caplog.messages for line in (begins, ends) if message.startswith(line)]
    assert lines == [begins, ends]


@pytest.mark.parametrize("catch_up", ["all", "latest", "skip"])
def test_an_outage_ends_also_where_nothing_waits_that_could_tell(bench: Bench, catch_up: CatchUp) -> None:
    """What was claimed went past its grace meanwhile."""
    bench.tenure.begin()
    engine = bench.engine(entry(catch_up=catch_up, grace=2 * TICK))
    bench.turn_until(engine, 1)
    bench.broker.error = BrokerError("gone")
    wait_until(lambda: engine.turn(bench.now()) and "past its grace" in bench.reasons(), "a fire is given up")
    bench.broker.error = None
    bench.turn_until(engine, 5)


@pytest.mark.parametrize("catch_up", ["all", "latest", "skip"])
def test_an_outage_ends_also_where_another_replica_has_sent_what_waited(bench: Bench, catch_up: CatchUp) -> None:
    bench.tenure.begin()
    engine = bench.engine(entry(catch_up=catch_up))
    bench.turn_until(engine, 1)
    bench.lose_broker(engine)
    bench.tenure.end()
    bench.tenure.begin()
    bench.broker.error = None
    bench.turn_until(bench.engine(entry(catch_up=catch_up)), 5)
    bench.tenure.end()
    bench.tenure.begin()
    bench.turn_until(engine, 10)


def test_an_outage_ends_also_where_the_one_message_that_waits_is_refused(bench: Bench) -> None:
    bench.tenure.begin()
    bench.lose_broker(bench.engine(entry("bad")))
    engine = bench.engine(entry("bad"), entry("good", timing=Every(SECOND)))
    bench.lose_broker(engine)
    bench.broker.error, bench.broker.refused = None, "bad"
    bench.turn_until(engine, 2, "good")
    assert bench.broker.instants("bad") == []


def test_a_refusal_in_an_outage_lets_one_fire_through_and_not_a_heap_of_them(bench: Bench) -> None:
    """A message may be refused before the broker is asked, which has not come back for that."""
    bench.tenure.begin()
    others = [f"other {number}" for number in range(20)]
    engine = bench.engine(entry("bad"), *(entry(name, timing=Every(3 * SECOND)) for name in others))
    bench.lose_broker(engine)
    bench.broker.refused = "bad"
    met = bench.now()
    wait_until(lambda: engine.turn(bench.now()) and bench.now() - met > 4 * SECOND, "an instant of each")
    assert len([intent for intent in engine._outbox.intents if intent.fire.entry in others]) == 1
    bench.broker.error = None
    wait_until(lambda: engine.turn(bench.now()) and {*others} <= {*bench.broker.entries()}, "a fire of each")


def test_an_outage_in_which_nothing_waits_ends_with_the_connection(
    bench: Bench, caplog: pytest.LogCaptureFixture
) -> None:
    """Else a holder without a fire to try would give the lease up, again and again, until one is due."""
    term = bench.tenure.begin()
    engine = bench.engine(entry())
    bench.lose_broker(engine)
    outbox = engine._outbox
    outbox.replace([])
    outbox.flush(term, bench.now() + SECOND)
    assert outbox.outage
    bench.broker.error = None
    due = outbox.next(bench.now())
    assert due
    outbox.flush(term, due)
    assert (outbox.outage, outbox.doubtful) == (False, True)
    bench.turn_until(engine, 1)
    said = [message[:24] for message in caplog.messages if message.startswith("the broker is")]
    assert said == ["the broker is out of rea", "the broker is reached ag"]


def test_a_clock_that_is_set_back_makes_no_outage_of_the_broker_longer(bench: Bench) -> None:
    """As after a failover to a primary whose clock is behind, which is the broker too."""
    bench.tenure.begin()
    engine = bench.engine(entry())
    bench.turn_until(engine, 1)
    bench.lose_broker(engine)
    bench.broker.error = None
    engine.turn(bench.now() - 600 * SECOND)
    assert engine.turn(bench.now() - 598 * SECOND)
    assert not engine._outbox.outage
    assert len(bench.broker.received) == 2


def test_a_publish_over_a_broken_connection_is_tried_again_at_once_but_only_on_trust(bench: Bench) -> None:
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


def test_a_fire_that_is_refused_is_tried_ten_times_and_then_recorded_as_failed(
    bench: Bench, client: redis.Redis, caplog: pytest.LogCaptureFixture
) -> None:
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
    lines = [message.split(": ")[0] for message in caplog.messages if message.startswith("the fire of bad at ")]
    assert [line.split(" ", 6)[-1] for line in lines] == ["was refused, it is tried again", "is failed"]


def test_many_fires_that_are_refused_are_no_turn_without_progress(bench: Bench) -> None:
    """To refuse them may take longer than a lease lasts."""
    term = bench.tenure.begin()
    engine = bench.engine(*(entry(f"bad {number}") for number in range(5)))
    bench.broker.error = ValueError("cannot be encoded")
    wait_until(lambda: (engine.turn(bench.now()), len(engine._outbox.intents) >= 5)[1], "refused fires")
    before = bench.tenure.progress
    engine._outbox.flush(term, bench.now() + 60 * SECOND)
    assert bench.tenure.progress >= before + 5


def test_a_clock_that_is_set_back_makes_no_wait_of_a_refused_fire_longer(bench: Bench) -> None:
    bench.tenure.begin()
    engine = bench.engine(entry())
    bench.turn_until(engine, 1)
    bench.broker.error = ValueError("cannot be encoded")
    wait_until(lambda: (engine.turn(bench.now()), engine._outbox.intents)[1], "a refused fire")
    bench.broker.error = None
    outbox, now = engine._outbox, bench.now() - 600 * SECOND
    outbox.flush(bench.tenure.term(), now)
    assert outbox.intents == []


def test_an_intent_past_its_grace_is_recorded_as_skipped_and_not_enqueued(bench: Bench, client: redis.Redis) -> None:
    bench.tenure.begin()
    engine = bench.engine(entry(timing=Every(SECOND), grace=2 * SECOND))
    bench.broker.error = BrokerError("gone")
    wait_until(lambda: engine.turn(bench.now()) and client.hlen(bench.keys.intents), "an intent")
    bench.broker.error = None
    engine.turn(bench.now() + 5 * SECOND)
    assert bench.broker.received == []
    assert "skipped" in bench.outcomes()
    assert client.hlen(bench.keys.intents) == 0


def test_the_grace_of_each_fire_is_checked_right_before_its_publish(bench: Bench) -> None:
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
