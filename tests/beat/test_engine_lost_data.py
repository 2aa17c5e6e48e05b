"""The engine on a server that has lost data: its replica remembers what it decided, and loses and doubles nothing."""

import redis

from tests.beat.bench import TICK, Bench, entry, grid


def test_a_replica_that_resumes_after_a_flush_loses_and_doubles_nothing(bench: Bench, client: redis.Redis) -> None:
    bench.tenure.begin()
    engine = bench.engine(entry(catch_up="all"))
    bench.turn_until(engine, 3)
    client.flushall()
    bench.tenure.begin(resumes=True)
    assert set(grid(bench.turn_until(engine, 10))) == {TICK}


def test_a_term_that_goes_on_with_an_older_snapshot_loses_and_doubles_nothing(
    bench: Bench, client: redis.Redis
) -> None:
    bench.tenure.begin()
    engine = bench.engine(entry(catch_up="all"))
    bench.turn_until(engine, 3)
    kept = {key: client.dump(key) for key in (bench.keys.state, bench.keys.history)}
    known = len(bench.outcomes())
    bench.turn_until(engine, 6)
    bench.lose_broker(engine)
    assert client.hlen(bench.keys.intents), "a fire that was claimed and not enqueued"
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


def test_a_fire_that_waits_for_the_broker_during_a_flush_is_enqueued_by_the_successor(
    bench: Bench, client: redis.Redis
) -> None:
    bench.tenure.begin()
    engine = bench.engine(entry(catch_up="all"))
    bench.turn_until(engine, 2)
    bench.lose_broker(engine)
    assert client.hlen(bench.keys.intents), "a fire that was claimed and not enqueued"
    client.flushall()
    bench.tenure.begin(resumes=True, settling=TICK)
    engine.turn(bench.now())
    bench.tenure.end()

    bench.tenure.begin()
    bench.broker.error = None
    successor = bench.engine(entry(catch_up="all"))
    assert set(grid(bench.turn_until(successor, 8))) == {TICK}
