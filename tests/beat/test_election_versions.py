"""Elections of replicas of several versions: the newest one that lives and can fire comes to hold the lease."""

import pytest
import redis

from celery_leased_beat.store import Keys
from examples.valkey import Server
from tests.beat.replicas import SOON, TTL, Compete, Present, elect
from tests.nodes.proxy import Proxy
from tests.nodes.waiting import holds_for, wait_until


def test_a_holder_hands_over_to_a_newer_version_and_stands_by(
    compete: Compete, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", logger="celery_leased_beat")
    old = compete("a:1", version="1.9")
    term = elect(old).term
    new = compete("b:1", version="1.10")
    wait_until(lambda: new.holds() and not old.holds(), "the newer version holds", SOON)
    assert new.term.number > term.number
    holds_for(lambda: new.holds() and not old.holds(), "no snatching back", 2 * TTL.total_seconds())
    assert caplog.text.count("handed the lease of term") == 1


def test_a_holder_without_a_version_hands_over_to_one_with_any(compete: Compete) -> None:
    old = compete("a:1")
    elect(old)
    new = compete("b:1", version="1")
    wait_until(lambda: new.holds() and not old.holds(), "the one with a version holds", SOON)


@pytest.mark.parametrize("versions", [("2.0", "2.0"), ("2.0", "2"), ("2.0", "1.9"), ("2.0", ""), ("", "")])
def test_a_holder_keeps_its_lease_against_its_own_version_and_older_ones(
    compete: Compete, versions: tuple[str, str]
) -> None:
    first, second = versions
    holder = compete("a:1", version=first)
    elect(holder)
    other = compete("b:1", version=second)
    holds_for(lambda: holder.holds() and not other.holds(), "the same holder", 2 * TTL.total_seconds())


def test_of_several_newer_versions_the_newest_comes_to_hold(compete: Compete) -> None:
    old, newer, newest = (compete(f"{version}:1", version=version) for version in ("1", "2", "3"))
    wait_until(lambda: newest.holds() and not (old.holds() or newer.holds()), "the newest holds", SOON)


def test_an_older_one_holds_when_the_newer_one_stops_and_when_it_dies(
    compete: Compete, client: redis.Redis, keys: Keys, server: Server
) -> None:
    with Proxy(server.port) as proxy:
        old, new = compete("a:1", version="1"), compete("b:1", version="2")
        wait_until(lambda: new.holds() and not old.holds(), "the newer version holds", SOON)
        assert new.stop()
        wait_until(old.holds, "the older one holds where no newer one lives", SOON)
        dying = compete("c:1", url=proxy.url, version="3")
        wait_until(lambda: dying.holds() and not old.holds(), "the newest version holds", SOON)
        proxy.freeze()
        client.execute_command("CLIENT", "KILL", "ID", client.get(keys.lease).split(" ")[2])
        wait_until(old.holds, "the older one holds where the newest one died", SOON)


def test_a_newer_one_that_leaves_a_free_lease_alone_is_waited_for_no_longer(
    compete: Compete, client: redis.Redis, keys: Keys, caplog: pytest.LogCaptureFixture
) -> None:
    old = compete("a:1", version="1")
    elect(old)

    def holds_beside_idle_one() -> bool:
        """Let a newer version say that it is there, and do nothing else."""
        client.hset(keys.replicas, "idle", f"{int(client.time()[0]) * 1000} 1 two 2.0 0 1 idle:1")
        client.pexpire(keys.replicas, 5000)
        return old.holds()

    wait_until(lambda: not holds_beside_idle_one(), "the older one hands over", SOON)
    wait_until(holds_beside_idle_one, "the older one holds again", SOON)
    assert "lay free though idle:1, version 2.0" in caplog.text
    holds_for(holds_beside_idle_one, "the older one keeps the lease", 1.0)


def test_a_replica_that_gave_the_lease_up_asks_nobody_to_hand_it_over(
    compete: Compete, caplog: pytest.LogCaptureFixture
) -> None:
    old, stuck = compete("a:1", version="1"), compete("b:1", version="2")
    wait_until(lambda: not old.holds() and stuck.holds(), "the newer version holds", SOON)
    stuck.busy = False
    wait_until(old.holds, "the older one holds", SOON)
    wait_until(lambda: old.holds() and any(not one.ready for one in old.presence.seen.others), "it rests", SOON)
    holds_for(lambda: old.holds() and not stuck.holds(), "the older one goes on", TTL.total_seconds())
    assert "gave up the lease of term" in caplog.text


def test_the_last_holder_rescues_what_a_server_has_lost_before_it_stands_back(present: Present) -> None:
    old, new = present("a", "1"), present("b", "2")
    assert new.admits()
    assert not old.admits()
    assert old.admits(rescues=True)


def test_the_death_of_a_newer_holder_keeps_no_older_one_waiting(present: Present) -> None:
    old, new = present("a", "1"), present("b", "2")
    new.attend(7)
    assert not old.admits()
    assert old.admits(dead=7)


def test_a_replica_without_entries_never_takes_the_lease_and_is_on_the_roll(
    compete: Compete, client: redis.Redis, keys: Keys
) -> None:
    empty = compete("a:1", entries=0, version="9")
    wait_until(lambda: client.exists(keys.replicas), "it is on the roll", SOON)
    holds_for(lambda: not empty.holds() and not client.exists(keys.lease), "a free lease", TTL.total_seconds())
    other = compete("b:1", version="1")
    elect(other)
    holds_for(lambda: other.holds() and not empty.holds(), "the one with entries holds", TTL.total_seconds())


def test_who_stops_is_off_the_roll(compete: Compete, client: redis.Redis, keys: Keys) -> None:
    first, second = compete("a:1"), compete("b:1")
    elect(first, second)
    wait_until(lambda: client.hlen(keys.replicas) == 2, "two on the roll", SOON)
    first.stop()
    assert client.hlen(keys.replicas) == 1
