"""The roll: who writes himself down is seen by the others, for some seconds."""

from collections.abc import Callable, Iterator
from datetime import timedelta

import pytest
import redis

from celery_leased_beat.store import Connection, Keys, Member, Roll, RollReader, ServerClock, connect
from celery_leased_beat.store.roll import LIFE, OUTLINE_LIFE
from tests.store.conftest import server_milliseconds

A = Member("id-a", "host one:1 0.1.0", 3, "aaaa", "1.0", 7)
B = Member("id-b", "host two:1 0.1.0", 4, "bbbb", "", 0, False)


@pytest.fixture
def open_roll(open_connection: Callable[..., Connection], keys: Keys) -> Callable[[], Roll]:
    return lambda: Roll(open_connection(), keys, ServerClock())


@pytest.fixture
def reader(server_url: str, keys: Keys) -> Iterator[RollReader]:
    with connect(server_url, timeout=timedelta(seconds=5)) as client:
        yield RollReader(client, keys)


def test_each_sees_the_others_and_not_himself(open_roll: Callable[[], Roll], reader: RollReader) -> None:
    first, second = open_roll(), open_roll()
    assert first.attend(A) == ()
    assert second.attend(B) == (A,)
    assert first.attend(A) == (B,)
    assert reader.members() == (A, B)


@pytest.mark.parametrize("ago", [LIFE + 1000, -LIFE - 1000])
def test_a_record_that_is_too_old_or_from_ahead_of_the_clock_is_removed(
    ago: int, open_roll: Callable[[], Roll], reader: RollReader, client: redis.Redis, keys: Keys
) -> None:
    client.hset(keys.replicas, B.id, f"{server_milliseconds(client) - ago} {B.record}")
    assert reader.members() == ()
    assert open_roll().attend(A) == ()
    assert client.hkeys(keys.replicas) == [A.id]


@pytest.mark.parametrize("record", ["nonsense", "", "1 2 3", "{now} what another version writes", "{now}"])
def test_a_record_that_cannot_be_read_is_passed_over(
    record: str, open_roll: Callable[[], Roll], reader: RollReader, client: redis.Redis, keys: Keys
) -> None:
    client.hset(keys.replicas, "id-c", record.format(now=server_milliseconds(client)))
    assert reader.members() == ()
    assert open_roll().attend(A) == ()


def test_a_record_is_the_last_one_written_and_goes_when_its_replica_leaves(
    open_roll: Callable[[], Roll], reader: RollReader, client: redis.Redis, keys: Keys
) -> None:
    roll = open_roll()
    roll.attend(B)
    later = Member(B.id, B.replica, B.entries, B.digest, "2", 9)
    roll.attend(later)
    assert reader.members() == (later,)
    roll.leave(later)
    assert not client.exists(keys.replicas)


def test_who_has_no_connection_opens_none_to_leave(open_roll: Callable[[], Roll], client: redis.Redis) -> None:
    before = len(client.client_list())
    open_roll().leave(A)
    assert len(client.client_list()) == before


def test_an_outline_is_written_once_and_lives_as_long_as_the_replica(
    open_roll: Callable[[], Roll], reader: RollReader, client: redis.Redis, keys: Keys
) -> None:
    roll = open_roll()
    roll.attend(A, "its outline")
    client.pexpire(keys.schedule(A.digest), 5000)
    roll.attend(A, "is not written again")
    assert reader.outline(A.digest) == "its outline"
    assert client.pttl(keys.schedule(A.digest)) > OUTLINE_LIFE / 2
    client.flushall()
    roll.attend(A, "but after its loss")
    assert reader.outline(A.digest) == "but after its loss"
    assert reader.outline(B.digest) is None


def test_all_that_is_written_ends_by_itself(
    open_roll: Callable[[], Roll], keys_without_expiry: Callable[[], set[str]], client: redis.Redis
) -> None:
    open_roll().attend(A, "its outline")
    assert len(client.keys("*")) == 2
    assert keys_without_expiry() == set()


def test_a_roll_of_a_wrong_type_is_begun_anew_since_without_one_nobody_takes_the_lease(
    open_roll: Callable[[], Roll], reader: RollReader, client: redis.Redis, keys: Keys
) -> None:
    client.set(keys.replicas, "not what it was")
    assert open_roll().attend(A, "its outline") == ()
    assert reader.members() == (A,)
