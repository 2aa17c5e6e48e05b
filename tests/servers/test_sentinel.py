"""A lease behind Sentinel: failovers with and without loss, of a primary that is dead or cut off."""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta

import pytest
import redis

from celery_leased_beat.errors import StoreError
from examples.valkey import Server
from tests.brokers.entries import NAME
from tests.brokers.stand import Stand
from tests.nodes.celery import BeatNode
from tests.nodes.sentinel import PRIMARY, Watched
from tests.nodes.waiting import wait_until
from tests.servers.store import Store

WAITS = "the first claim waits"
#: For how long the replica gets nothing more before its primary dies (seconds): longer than a lease.
BEHIND = 5.0
#: What is on its way as replication stops may be lost in part: its decision and not its marker, or the other way round.
UNDERWAY = timedelta(seconds=1)


@pytest.fixture
def watched(server: Server) -> Iterator[Watched]:
    with Watched() as watched:
        yield watched


def test_sentinel_and_primary_may_have_a_password_each(watched: Watched, namespace: str) -> None:
    with redis.Redis(port=watched.primary.port) as primary:
        primary.config_set("requirepass", "one")
    watched.sentinel.client.execute_command("SENTINEL SET", PRIMARY, "auth-pass", "one")
    watched.sentinel.client.execute_command("ACL SETUSER default resetpass >other")
    url = watched.url.replace("//", "//:one@")
    options = {**watched.transport_options, "sentinel_kwargs": {"password": "other"}}
    with Store(url, namespace, options) as store:
        store.take()
        assert all(call.says_the_truth() for call in store.calls().values())
    with Store(url, namespace, watched.transport_options) as store, pytest.raises(StoreError):
        store.take()


def test_a_failover_costs_no_instant_and_doubles_none(watched: Watched, serve: Callable[..., Stand]) -> None:
    stand = serve(watched.url, watched.transport_options, beats=2)
    stand.reached("report", 3)

    watched.primary.kill()
    watched.promoted()
    stand.reached("report", 3)

    found = stand.settled()
    assert found.doubled == []
    assert found.owed == []
    assert all(beat.alive() for beat in stand.beats)


def test_after_a_failover_that_loses_writes_the_last_holder_goes_on_with_what_it_remembers(
    watched: Watched, serve: Callable[..., Stand]
) -> None:
    stand = serve(watched.url, watched.transport_options, beats=2)
    stand.reached("report", 3)
    old = stand.holder(watched.primary)

    assert WAITS not in stand.logs()
    cut_off = fall_behind(stand, watched.primary)
    died = datetime.now(UTC)
    watched.primary.kill()
    wait_until(lambda: stands_down(old), "the old holder stands down", seconds=5)
    watched.promoted()
    stand.reached("report", 3)

    found = stand.settled()
    print("doubled:", found.doubled)
    assert stand.holder(watched.replica) is old
    underway = [period(cut_off), period(died)]
    assert [twice for twice in found.doubled if not any(begin < twice[2] < end for begin, end in underway)] == []
    assert found.owed == []
    assert WAITS in old.logs(), "an older holder could still trust a lease that only the dead primary knew"
    assert all(beat.alive() for beat in stand.beats)
    with Store(watched.replica.url, NAME) as store:
        records = store.reader.snapshot([], cut_off - timedelta(minutes=1)).records
    assert {record.entry for record in records if record.outcome == "recalled"} >= {"all", "report"}


def test_a_last_holder_that_is_gone_too_is_followed_and_what_was_lost_is_decided_again(
    watched: Watched, serve: Callable[..., Stand]
) -> None:
    stand = serve(watched.url, watched.transport_options, beats=2)
    stand.reached("report", 3)
    old = stand.holder(watched.primary)
    stand.beats.remove(old)

    cut_off = fall_behind(stand, watched.primary)
    old.kill("SIGKILL")
    watched.primary.kill()
    watched.promoted()
    lost_until = datetime.now(UTC)
    stand.reached("report", 3)

    found = stand.settled()
    print("doubled:", found.doubled)
    assert [twice for twice in found.doubled if not cut_off - UNDERWAY < twice[2] < lost_until] == []
    assert found.owed == []
    assert all(beat.alive() for beat in stand.beats)


def test_a_primary_that_comes_back_after_its_successor_is_left_alone(
    watched: Watched, serve: Callable[..., Stand]
) -> None:
    stand = serve(watched.url, watched.transport_options, beats=2)
    stand.reached("report", 3)

    watched.primary.pause()
    watched.promoted()
    stand.reached("report", 2)
    watched.primary.resume()
    stand.reached("report", 5)

    found = stand.settled()
    assert found.doubled == []
    assert found.owed == []


def period(moment: datetime) -> tuple[datetime, datetime]:
    return moment - UNDERWAY, moment + UNDERWAY


def fall_behind(stand: Stand, primary: Server) -> datetime:
    """Let the replica get nothing more from ``primary``, which goes on for a while; return since when."""
    with redis.Redis(port=primary.port) as client:
        client.execute_command("ACL SETUSER default -psync -sync")
        client.execute_command("CLIENT KILL TYPE replica")
    cut_off = datetime.now(UTC)
    stand.stays(BEHIND)
    return cut_off


def stands_down(beat: BeatNode) -> bool:
    return "the lease is not trusted" in beat.logs() or "lost the lease" in beat.logs()
