"""The election against a real Valkey: who holds, who trusts, and how the lease changes hands.

A server that is silent or started again is in ``test_election_outages``, replicas of several versions are in
``test_election_versions``.
"""

from datetime import timedelta

import pytest
import redis

from celery_leased_beat.election.contender import LOOK, Contender
from celery_leased_beat.store import Keys, Lease, ServerClock, dedicated
from examples.valkey import Server
from tests.beat.replicas import SOON, TTL, Compete, Present, elect, looks
from tests.nodes.proxy import Proxy
from tests.nodes.waiting import holds_for, wait_until


def test_one_of_three_holds_and_the_others_stand_by(compete: Compete) -> None:
    replicas = [compete(f"host:{number}") for number in range(3)]
    holder = elect(*replicas)
    others = [replica for replica in replicas if replica is not holder]
    alone = lambda: holder.holds() and not any(other.holds() for other in others)  # noqa: E731
    holds_for(alone, "one holder", 2 * TTL.total_seconds())
    assert holder.changes == [holder.term]


def test_a_released_lease_goes_to_a_standby_under_a_higher_term(
    compete: Compete, client: redis.Redis, keys: Keys
) -> None:
    first = compete("a:1")
    before = elect(first).term
    second = compete("b:1")
    assert first.stop()
    assert first.election.term() is None
    assert elect(second).term.number > before.number
    assert client.get(keys.lease).startswith(second.term.token)


def test_a_deleted_lease_is_taken_again_under_a_new_term_and_token(
    compete: Compete, client: redis.Redis, keys: Keys
) -> None:
    replica = compete()
    before = elect(replica).term
    client.delete(keys.lease)
    wait_until(lambda: replica.holds() and replica.term != before, "a new term", SOON)
    assert replica.term.number > before.number
    assert replica.term.token != before.token
    assert replica.term.resumes


def test_a_foreign_token_is_left_alone_and_ends_the_trust(compete: Compete, client: redis.Redis, keys: Keys) -> None:
    replica = compete()
    elect(replica)
    client.set(keys.lease, "foreign", px=60_000)
    wait_until(lambda: not replica.holds(), "the holder stands by", SOON)
    holds_for(lambda: not replica.holds(), "a standby", TTL.total_seconds())
    assert replica.stop()
    assert client.get(keys.lease) == "foreign"
    assert client.pttl(keys.lease) > 30_000


def test_a_holder_that_another_followed_does_not_resume(compete: Compete, client: redis.Redis, keys: Keys) -> None:
    first, second = compete("a:1"), compete("b:1")
    holder = elect(first, second)
    other = second if holder is first else first
    client.set(keys.lease, "foreign", px=300)
    wait_until(lambda: not holder.holds(), "the holder stands by", SOON)
    new = elect(first, second)
    assert new.term.resumes == (new is not other)


def test_a_connection_that_is_killed_costs_trust_for_a_moment_and_not_the_term(
    compete: Compete, client: redis.Redis
) -> None:
    replica = compete()
    term = elect(replica).term
    # On its own a replica has nobody who could replace it in between.
    client.execute_command("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
    wait_until(lambda: len(replica.changes) == 2, "the lease is trusted again", SOON)
    assert replica.changes == [term, term]


def test_standbys_log_nothing_and_do_not_look_in_step(
    compete: Compete, present: Present, keys: Keys, server_url: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", logger="celery_leased_beat")
    elect(compete("a:1"))
    caplog.clear()
    waits: list[float] = []

    class Hasty(Lease):
        def wait_for_wake(self, seconds: float) -> bool:
            waits.append(seconds)
            return False

    lease = Hasty(dedicated(server_url, timeout=TTL / 3), keys, TTL, ServerClock())
    contender = Contender(lease, "b:1", present("b:1", ""), trusted_for=TTL)
    assert not any(contender.attempt() for _ in range(50))
    lease.close()
    assert max(waits) <= LOOK
    assert max(waits) - min(waits) > LOOK / 10
    assert caplog.messages == []


def test_a_holder_without_progress_gives_the_lease_up_and_lets_another_try(compete: Compete) -> None:
    stuck = compete("a:1")
    elect(stuck)
    stuck.busy = False
    other = compete("b:1")
    assert elect(stuck, other) is stuck
    wait_until(other.holds, "the other one holds", SOON)
    assert not stuck.holds()


def test_a_holder_whose_connection_is_gone_is_replaced_before_its_ttl(
    compete: Compete, client: redis.Redis, keys: Keys, server: Server
) -> None:
    with Proxy(server.port) as proxy:
        holder = compete("a:1", url=proxy.url)
        term = elect(holder).term
        before = looks(client)
        standby = compete("b:1")
        wait_until(lambda: looks(client) >= before + 2, "a standby that has seen the holder", SOON)
        assert not standby.holds()
        # As a kill does: the server sees the connection end, and nothing answers any more. The key must not expire.
        client.persist(keys.lease)
        proxy.freeze()
        holder_id = client.get(keys.lease).split(" ")[2]
        client.execute_command("CLIENT", "KILL", "ID", holder_id)
        wait_until(standby.holds, "the standby replaced the holder", SOON)
        assert standby.term.number > term.number


def test_an_acquire_whose_reply_is_lost_is_recognised_as_won(
    compete: Compete, server: Server, client: redis.Redis, keys: Keys
) -> None:
    client.script_flush()  # so that the script is sent by its source, which the proxy knows it by
    with Proxy(server.port) as proxy:
        held = proxy.hold(b"May this replica have the lease?", "reply")
        replica = compete(url=proxy.url, ttl=timedelta(seconds=SOON))  # so that it is asked again before its end
        held.wait()
        wait_until(lambda: client.exists(keys.lease), "the request had its effect", SOON)
        elect(replica)
        assert client.get(keys.lease).startswith(replica.term.token)
        number, _, before, _ = client.get(keys.term).split(" ")
        assert (int(number), before) == (replica.term.number, "-")


def test_a_wake_list_of_a_wrong_type_keeps_nobody_from_the_lease(
    compete: Compete, client: redis.Redis, keys: Keys
) -> None:
    client.set(keys.wake, "of no use")
    first = compete("a:1")
    elect(first)
    client.set(keys.wake, "of no use")
    second = compete("b:1")
    holds_for(lambda: not second.holds(), "a standby", 0.5)
    client.delete(keys.lease)
    elect(first, second)


def test_a_stop_may_be_called_again_and_before_the_start(compete: Compete, server_url: str, namespace: str) -> None:
    replica = compete()
    elect(replica)
    assert [replica.stop() for _ in range(3)] == [True, True, True]


def test_losing_and_gaining_is_logged_once_each(
    compete: Compete, client: redis.Redis, keys: Keys, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", logger="celery_leased_beat")
    replica = compete()
    term = elect(replica).term
    client.delete(keys.lease)
    wait_until(lambda: replica.holds() and replica.term != term, "a new term", SOON)
    lines = [record.getMessage() for record in caplog.records if record.name.startswith("celery_leased_beat")]
    assert sum(line.startswith("elected") for line in lines) == 2
    assert sum(line.startswith("lost the lease") for line in lines) == 1


def test_the_value_of_the_lease_names_the_replica(compete: Compete, client: redis.Redis, keys: Keys) -> None:
    elect(compete("shop-7:4711"))
    assert client.get(keys.lease).endswith("shop-7:4711")


def test_two_replicas_with_the_same_host_and_pid_are_two(compete: Compete) -> None:
    replicas = [compete("same:1"), compete("same:1")]
    elect(*replicas)
    holds_for(lambda: sum(replica.holds() for replica in replicas) <= 1, "one holder", TTL.total_seconds())
