"""Who may have the lease, and what an answer that was lost leaves behind."""

import time
from collections.abc import Callable
from datetime import timedelta

import pytest
import redis

from celery_leased_beat.errors import StoreError
from celery_leased_beat.store import Holder, Keys, Lease
from examples.valkey import Server
from tests.nodes.proxy import Proxy
from tests.nodes.waiting import wait_until
from tests.store.conftest import REPLICA, TTL, server_milliseconds


def run_id(client: redis.Redis) -> str:
    return str(client.info("server")["run_id"])


def value(client: redis.Redis, keys: Keys) -> str:
    found = client.get(keys.lease)
    assert isinstance(found, str)
    return found


def waited(lease: Lease, seconds: float) -> float:
    """For how long a standby waits for a wake-up, where it would wait for so many seconds."""
    began = time.monotonic()
    lease.wait_for_wake(seconds)
    return time.monotonic() - began


# Acquire


def test_a_free_lease_is_taken_and_says_who_holds_it(lease: Lease, client: redis.Redis, keys: Keys) -> None:
    held = lease.acquire("token-1", REPLICA)
    assert held is not None
    assert Holder.parse(value(client, keys)) == Holder(
        "token-1",
        held.term,
        client_id=Holder.parse(value(client, keys)).client_id,
        run_id=run_id(client),
        replica=REPLICA,
    )
    assert 0 < client.pttl(keys.lease) <= TTL / timedelta(milliseconds=1)


def test_the_value_names_the_connection_that_holds_the_lease(lease: Lease, client: redis.Redis, keys: Keys) -> None:
    lease.acquire("token-1", REPLICA)
    holder = Holder.parse(value(client, keys))
    assert client.execute_command("CLIENT LIST", "ID", holder.client_id)


def test_the_value_names_a_connection_that_was_opened_by_a_look(lease: Lease, client: redis.Redis, keys: Keys) -> None:
    lease.wait_for_wake(0.001)
    lease.observe()
    lease.acquire("token-1", REPLICA)
    holder = Holder.parse(value(client, keys))
    assert holder.client_id is not None
    assert client.execute_command("CLIENT LIST", "ID", holder.client_id)


def test_a_first_term_is_the_servers_time_in_seconds(lease: Lease, client: redis.Redis) -> None:
    held = lease.acquire("token-1", REPLICA)
    assert held is not None
    assert abs(held.term - server_milliseconds(client) // 1000) <= 1
    assert (held.previous_term, held.previous_run_id) == (0, None)


def test_terms_rise_however_fast_they_follow(lease: Lease) -> None:
    terms = []
    for number in range(10):
        held = lease.acquire(f"token-{number}", REPLICA)
        assert held is not None
        terms.append(held.term)
        lease.release(f"token-{number}")
    assert terms == list(range(terms[0], terms[0] + 10))


def test_terms_rise_over_a_term_key_that_is_far_ahead(lease: Lease, client: redis.Redis, keys: Keys) -> None:
    client.set(keys.term, "9000000000 an-old-run - -")
    held = lease.acquire("token-1", REPLICA)
    assert held is not None
    assert (held.term, held.previous_term, held.previous_run_id) == (9_000_000_001, 9_000_000_000, "an-old-run")


def test_terms_rise_over_a_flush(lease: Lease, client: redis.Redis) -> None:
    first = lease.acquire("token-1", REPLICA)
    client.flushall()
    second = lease.acquire("token-2", REPLICA)
    assert first is not None
    assert second is not None
    assert second.term >= first.term
    assert second.previous_term == 0


def test_an_answer_tells_the_run_of_the_server(lease: Lease, client: redis.Redis) -> None:
    held = lease.acquire("token-1", REPLICA)
    assert held is not None
    assert held.run_id == run_id(client)


def test_a_held_lease_is_not_taken(lease: Lease, open_lease: Callable[..., Lease], dump: Callable[[], object]) -> None:
    lease.acquire("token-1", REPLICA)
    before = dump()
    assert open_lease().acquire("token-2", REPLICA) is None
    assert dump() == before


def test_an_acquire_that_is_sent_again_is_answered_as_the_first(lease: Lease) -> None:
    lease.acquire("token-0", REPLICA)
    lease.release("token-0")
    first = lease.acquire("token-1", REPLICA)
    again = lease.acquire("token-1", REPLICA)
    assert first is not None
    assert again is not None
    assert (again.term, again.previous_term, again.previous_run_id) == (
        first.term,
        first.previous_term,
        first.previous_run_id,
    )


def test_an_acquire_whose_reply_was_lost_is_found_as_ours(
    open_lease: Callable[..., Lease], proxy: Proxy, client: redis.Redis, keys: Keys
) -> None:
    lease = open_lease(url=proxy.url)
    lease.observe()
    proxy.lose_replies = True
    with pytest.raises(StoreError):
        lease.acquire("token-1", REPLICA)
    assert not lease.connected
    proxy.heal()
    held = lease.acquire("token-1", REPLICA)
    assert held is not None
    assert held.term == Holder.parse(value(client, keys)).term


def test_the_first_word_of_a_token_is_no_match(lease: Lease, client: redis.Redis, keys: Keys) -> None:
    client.set(keys.lease, "token-10 7 1 run somebody", px=90_000)
    assert lease.acquire("token-1", REPLICA) is None
    assert lease.renew("token-1", REPLICA) is None
    assert not lease.release("token-1")
    assert value(client, keys).startswith("token-10 ")


def test_an_acquire_takes_the_wake_up_away(lease: Lease, client: redis.Redis, keys: Keys) -> None:
    client.rpush(keys.wake, "x")
    lease.acquire("token-1", REPLICA)
    assert not client.exists(keys.wake)


# Replace


def test_a_dead_holders_lease_is_replaced_by_its_whole_value(
    lease: Lease, open_lease: Callable[..., Lease], client: redis.Redis, keys: Keys
) -> None:
    first = lease.acquire("token-1", REPLICA)
    held = open_lease().replace("token-2", "host two", value(client, keys))
    assert first is not None
    assert held is not None
    assert held.term > first.term
    assert held.previous_term == first.term
    assert Holder.parse(value(client, keys)).replica == "host two"


@pytest.mark.parametrize("seen", ["", "token-1", "token-1 1 1 run host"])
def test_a_lease_that_is_not_as_it_was_seen_is_not_replaced(
    lease: Lease, open_lease: Callable[..., Lease], dump: Callable[[], object], seen: str
) -> None:
    lease.acquire("token-1", REPLICA)
    before = dump()
    assert open_lease().replace("token-2", REPLICA, seen) is None
    assert dump() == before


def test_a_holder_that_came_back_over_a_new_connection_is_not_replaced(
    lease: Lease, open_lease: Callable[..., Lease], client: redis.Redis, keys: Keys
) -> None:
    lease.acquire("token-1", REPLICA)
    seen = value(client, keys)
    lease.close()
    lease.renew("token-1", REPLICA)
    assert open_lease().replace("token-2", REPLICA, seen) is None


def test_a_replaced_holder_has_lost(
    lease: Lease, open_lease: Callable[..., Lease], client: redis.Redis, keys: Keys
) -> None:
    lease.acquire("token-1", REPLICA)
    open_lease().replace("token-2", REPLICA, value(client, keys))
    assert lease.renew("token-1", REPLICA) is None


# Renew


def test_two_hundred_renewals_never_add_to_the_ttl(lease: Lease, client: redis.Redis, keys: Keys) -> None:
    lease.acquire("token-1", REPLICA)
    milliseconds = TTL // timedelta(milliseconds=1)
    for _ in range(200):
        assert lease.renew("token-1", REPLICA)
        assert milliseconds - 1000 < client.pttl(keys.lease) <= milliseconds


def test_a_renewal_keeps_term_and_token(lease: Lease, client: redis.Redis, keys: Keys) -> None:
    held = lease.acquire("token-1", REPLICA)
    before = value(client, keys)
    renewed = lease.renew("token-1", REPLICA)
    assert held is not None
    assert renewed is not None
    assert renewed.term == held.term
    assert value(client, keys) == before


def test_a_renewal_over_a_new_connection_names_it(lease: Lease, client: redis.Redis, keys: Keys) -> None:
    lease.acquire("token-1", REPLICA)
    before = Holder.parse(value(client, keys))
    lease.close()
    lease.renew("token-1", REPLICA)
    after = Holder.parse(value(client, keys))
    assert after.client_id != before.client_id
    assert client.execute_command("CLIENT LIST", "ID", after.client_id)


@pytest.mark.parametrize("foreign", ["another 5 1 run host", "junk", ""])
def test_a_foreign_value_survives_renew_and_release(
    lease: Lease, client: redis.Redis, keys: Keys, foreign: str
) -> None:
    lease.acquire("token-1", REPLICA)
    client.set(keys.lease, foreign, px=5000)
    assert lease.renew("token-1", REPLICA) is None
    assert not lease.release("token-1")
    assert value(client, keys) == foreign
    assert client.pttl(keys.lease) <= 5000


def test_a_lease_that_is_gone_is_not_made_by_a_renewal(lease: Lease, client: redis.Redis, keys: Keys) -> None:
    lease.acquire("token-1", REPLICA)
    client.delete(keys.lease)
    assert lease.renew("token-1", REPLICA) is None
    assert not client.exists(keys.lease)


# Release


def test_a_released_lease_is_free_and_leaves_one_wake_up_that_ends(
    lease: Lease, client: redis.Redis, keys: Keys
) -> None:
    lease.acquire("token-1", REPLICA)
    assert lease.release("token-1")
    assert not client.exists(keys.lease)
    assert client.llen(keys.wake) == 1
    assert 0 < client.pttl(keys.wake) <= 1000


def test_a_release_wakes_one_of_two_standbys(
    lease: Lease, open_lease: Callable[..., Lease], client: redis.Redis, keys: Keys
) -> None:
    lease.acquire("token-1", REPLICA)
    lease.release("token-1")
    first, second = [waited(open_lease(), 1) for _ in range(2)]
    assert first < 1 <= second


def test_a_second_release_does_nothing(
    lease: Lease, client: redis.Redis, keys: Keys, dump: Callable[[], object]
) -> None:
    lease.acquire("token-1", REPLICA)
    lease.release("token-1")
    client.delete(keys.wake)
    before = dump()
    assert not lease.release("token-1")
    assert dump() == before


def test_a_wake_list_that_is_none_is_waited_for_without_it(lease: Lease, client: redis.Redis, keys: Keys) -> None:
    client.set(keys.wake, "of no use")
    assert waited(lease, 0.05) >= 0.05
    assert lease.acquire("token-1", REPLICA)
    assert not client.exists(keys.wake)


def test_a_wait_of_almost_nothing_ends(lease: Lease) -> None:
    assert waited(lease, 0.0) < 2


# Observe


def test_a_free_lease_is_seen_as_free(lease: Lease, client: redis.Redis) -> None:
    seen = lease.observe()
    assert (seen.value, seen.holder, seen.term, seen.listed) == (None, None, 0, None)
    assert seen.run_id == run_id(client)


def test_a_holder_is_seen_with_its_term(
    lease: Lease, open_lease: Callable[..., Lease], client: redis.Redis, keys: Keys
) -> None:
    held = lease.acquire("token-1", REPLICA)
    seen = open_lease().observe()
    assert held is not None
    assert seen.value == value(client, keys)
    assert seen.holder is not None
    assert (seen.holder.token, seen.holder.term, seen.holder.replica) == ("token-1", held.term, REPLICA)
    assert seen.term == held.term


def test_a_holders_connection_is_listed_until_it_breaks(lease: Lease, open_lease: Callable[..., Lease]) -> None:
    lease.acquire("token-1", REPLICA)
    standby = open_lease()
    assert [standby.observe().listed, standby.observe().listed] == [None, True]
    lease.close()
    wait_until(lambda: not standby.observe().listed, "the server has noticed the break", 5)
    assert standby.observe().listed is False


def test_a_holder_under_another_run_of_the_server_is_unknown(lease: Lease, client: redis.Redis, keys: Keys) -> None:
    client.set(keys.lease, f"token-1 5 {client.client_id()} another-run host", px=90_000)
    lease.observe()
    assert lease.observe().listed is None


@pytest.mark.parametrize("foreign", ["junk", "", "token-1 five 1 run host", "token-1 5 - - host"])
def test_a_value_that_says_no_connection_is_unknown(
    lease: Lease, client: redis.Redis, keys: Keys, foreign: str
) -> None:
    client.set(keys.lease, foreign, px=90_000)
    lease.observe()
    seen = lease.observe()
    assert (seen.value, seen.listed) == (foreign, None)


def test_a_server_that_was_restarted_is_seen_until_there_is_a_holder_again(open_lease: Callable[..., Lease]) -> None:
    with Server() as server:
        holder, standby = open_lease(url=server.url), open_lease(url=server.url)
        held = holder.acquire("token-1", REPLICA)
        assert held is not None
        assert not standby.observe().moved
        server.stop()
        server.start()
        holder.close()
        standby.close()
        assert standby.observe().moved
        renewed = holder.renew("token-1", REPLICA)
        assert renewed is not None
        assert renewed.run_id not in (None, held.run_id)
        assert not standby.observe().moved
        assert holder.release("token-1")
        follower = standby.acquire("token-2", REPLICA)
        assert follower is not None
        assert (follower.previous_term, follower.previous_run_id) == (held.term, renewed.run_id)


def test_the_last_term_of_an_older_version_says_no_run(lease: Lease, client: redis.Redis, keys: Keys) -> None:
    client.set(keys.term, "7")
    seen = lease.observe()
    assert (seen.term, seen.last_run_id, seen.moved) == (7, None, False)


def test_a_foreign_lease_is_seen_as_such(lease: Lease, client: redis.Redis, keys: Keys) -> None:
    client.set(keys.lease, "junk")
    seen = lease.observe()
    assert (seen.value, seen.holder) == ("junk", Holder("junk"))


def test_bytes_that_are_no_text_are_seen_and_left(lease: Lease, client: redis.Redis, keys: Keys) -> None:
    client.set(keys.lease, b"\xff\xfe junk", px=90_000)
    seen = lease.observe()
    assert seen.value is not None
    assert lease.acquire("token-1", REPLICA) is None
    assert lease.replace("token-1", REPLICA, seen.value) is None


def test_without_the_right_to_ask_the_lease_still_works(
    server_url: str, client: redis.Redis, open_lease: Callable[..., Lease], keys: Keys
) -> None:
    client.execute_command("ACL SETUSER limited reset on >secret ~* +@all -client -info")
    limited = open_lease(url=server_url.replace("//", "//limited:secret@"))
    held = limited.acquire("token-1", REPLICA)
    assert held is not None
    assert held.run_id is None
    assert Holder.parse(value(client, keys)) == Holder("token-1", held.term, replica=REPLICA)
    limited.observe()
    seen = limited.observe()
    assert (seen.run_id, seen.listed) == (None, None)
    assert seen.at is not None
    assert limited.renew("token-1", REPLICA)
    assert limited.release("token-1")


def test_a_look_without_the_right_to_ask_the_time_is_no_error(
    server_url: str, client: redis.Redis, open_lease: Callable[..., Lease]
) -> None:
    client.execute_command("ACL SETUSER limited reset on >secret ~* +@all -time")
    assert open_lease(url=server_url.replace("//", "//limited:secret@")).observe().at is None
