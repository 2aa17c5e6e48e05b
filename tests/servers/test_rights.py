"""A user of the server who may not do everything: said once, and done without."""

import time
from collections.abc import Callable, Iterator
from datetime import timedelta

import pytest
import redis

from celery_leased_beat.engine import Claim, Intent, Verdict
from celery_leased_beat.errors import StoreError
from celery_leased_beat.fires import Fire
from celery_leased_beat.plan import Decision, Outcome
from celery_leased_beat.store import ServerClock
from celery_leased_beat.store.rights import note_lack
from examples.valkey import Server
from tests.brokers.stand import Stand
from tests.nodes.process import ROOT
from tests.nodes.waiting import wait_until
from tests.servers.store import ENTRY, REPLICA, Store

#: All that this package does with its keys, and nothing else.
NEEDED = (
    "+eval +evalsha +get +set +del +pttl +pexpire +pexpiretime +rpush +blpop +hget +hset +hsetnx +hdel +hlen +hmget "
    "+hgetall +hkeys +hscan +xadd +xlen +xrange"
)
MILLISECOND = timedelta(milliseconds=1)
DOCS = ROOT / "docs" / "servers.md"
RIGHTS = {"CLIENT": "+client|id +client|list", "INFO": "+info", "TIME": "+time"}


def test_the_docs_list_the_same_rights() -> None:
    assert f"~clb:* {NEEDED} {' '.join(RIGHTS.values())}" in " ".join(DOCS.read_text("utf-8").split())


@pytest.fixture
def user(server_url: str, client: redis.Redis) -> Iterator[Callable[[str], str]]:
    """Gives a URL of a user who has what is needed, but for one right or for all that can be missing."""

    def without(right: str) -> str:
        given = " ".join(rights for name, rights in RIGHTS.items() if right not in (name, "all"))
        client.execute_command(f"ACL SETUSER limited reset on >secret ~clb:* {NEEDED} {given}")
        return server_url.replace("//", "//limited:secret@")

    yield without
    client.execute_command("ACL DELUSER limited")


@pytest.mark.parametrize("right", ["none", *RIGHTS, "all"])
def test_every_call_works_without(
    right: str, user: Callable[[str], str], namespace: str, client: redis.Redis, caplog: pytest.LogCaptureFixture
) -> None:
    note_lack.cache_clear()
    with Store(user(right), namespace) as store:
        store.take()
        calls = store.calls()
        if right in ("TIME", "all"):
            del calls["read"], calls["roll"]  # they say that they cannot, see below
        assert [name for name, call in calls.items() if not call.says_the_truth()] == []
        for _ in range(3):
            store.lease.observe()
        assert_tells_the_time(store.clock, client)
    said = [record.getMessage() for record in caplog.records if "does not allow its user" in record.getMessage()]
    assert len(said) == {"none": 0, "all": 3}.get(right, 1)


def test_without_time_the_clock_is_the_servers_all_the_same(
    user: Callable[[str], str], namespace: str, client: redis.Redis
) -> None:
    with Store(user("TIME"), namespace) as store:
        store.take()
        assert_tells_the_time(store.clock, client)
    assert {key for key in client.scan_iter() if client.pttl(key) == -1 and key.endswith(":time")} == set()


def test_a_report_without_time_says_what_is_missing(user: Callable[[str], str], namespace: str) -> None:
    with Store(user("TIME"), namespace) as store, pytest.raises(StoreError, match=r"refused TIME.*permission"):
        store.reader.now()


def test_a_user_without_a_right_that_is_needed_is_told_which(
    user: Callable[[str], str], namespace: str, client: redis.Redis
) -> None:
    url = user("none")
    client.execute_command("ACL SETUSER limited -set")
    with Store(url, namespace) as store, pytest.raises(StoreError, match=r"acquire\.lua: .*permission.* 'set'"):
        store.lease.acquire("token", REPLICA)


@pytest.mark.parametrize("right", ["xadd", "hset"])
def test_a_claim_without_a_right_that_is_needed_moves_no_watermark(
    right: str, user: Callable[[str], str], namespace: str, client: redis.Redis
) -> None:
    with Store(user("none"), namespace) as store:
        store.take()
        instant = store.ledger.load(store.term, [ENTRY], {}, resume=False).positions[ENTRY].watermark + MILLISECOND
        state = client.hgetall(store.keys.state)
        wait_until(lambda: store.lease.observe().at > instant, "an instant that has come")
        claim = Claim(ENTRY, Decision(Outcome.FIRED, instant, instant, 1), Intent(Fire("2", "entry", instant), "job:x"))
        client.execute_command(f"ACL SETUSER limited -{right}")
        with pytest.raises(StoreError, match=rf"claim\.lua: .*permission.* '{right}'"):
            store.ledger.claim(store.term, [claim])
        assert client.hgetall(store.keys.state) == state
        client.execute_command(f"ACL SETUSER limited +{right}")
        assert store.ledger.claim(store.term, [claim]) == [Verdict.CLAIMED]


def test_without_the_right_to_record_it_no_intent_is_given_up(
    user: Callable[[str], str], namespace: str, client: redis.Redis
) -> None:
    with Store(user("none"), namespace) as store:
        store.take()
        calls = store.calls()
        calls["keep"].make()
        client.execute_command("ACL SETUSER limited -xadd")
        with pytest.raises(StoreError, match=r"abandon\.lua: .*permission.* 'xadd'"):
            calls["abandon"].make()
        assert client.hkeys(store.keys.intents) == ["fire"]


def test_a_beat_without_these_rights_fires_and_is_followed_when_its_lease_ends(
    server: Server, user: Callable[[str], str], serve: Callable[..., Stand]
) -> None:
    stand = serve(user("all"), beats=2)
    stand.reached("report", 3)
    died = time.time()
    first = stand.holder(server)
    first.kill("SIGKILL")
    rows = stand.reached("report", 2)
    print(f"two instants were handled within {rows[-1].at - died:.2f} s of its death")

    found = stand.settled()
    assert found.doubled == []
    assert found.owed == []
    for right in RIGHTS:
        assert first.logs().count(f"does not allow its user {right}") == 1, right


def assert_tells_the_time(clock: ServerClock, client: redis.Redis) -> None:
    """It is the server's, give or take a second for the answers from which the clock knows it."""
    before, told, after = seconds(client), clock.now().timestamp(), seconds(client)
    assert before - 1 < told < after + 1


def seconds(client: redis.Redis) -> float:
    whole, microseconds = client.time()
    return whole + microseconds / 1e6
