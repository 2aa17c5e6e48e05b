"""A message that comes twice takes effect once, one run at a time."""

from collections.abc import Callable, Iterator
from datetime import timedelta

import pytest
import redis

from celery_leased_beat.errors import StoreError
from celery_leased_beat.store import Keys, Markers, MarkerVerdict, Start, connect
from tests.nodes.proxy import Proxy
from tests.nodes.waiting import wait_until
from tests.store.conftest import server_milliseconds

OWN, DUPLICATE, DONE = Start(MarkerVerdict.OWN), Start(MarkerVerdict.DUPLICATE), Start(MarkerVerdict.DONE)
EXHAUSTED = Start(MarkerVerdict.EXHAUSTED)
HOUR = 3_600_000


@pytest.fixture
def markers(server_url: str, keys: Keys) -> Iterator[Markers]:
    with connect(server_url, timeout=timedelta(seconds=5)) as client:
        yield Markers(client, keys)


@pytest.fixture
def end_hold(client: redis.Redis, keys: Keys) -> Callable[[], None]:
    """Lets the hold on the marker of "task" run out, as after a worker's death."""

    def end() -> None:
        client.hset(keys.marker("task"), "hold", server_milliseconds(client) - 1)

    return end


# Deliveries


def test_a_first_delivery_owns_the_task(markers: Markers) -> None:
    assert markers.start("task", "delivery", "run-1", 0) == OWN


def test_another_delivery_is_a_duplicate_in_every_state(markers: Markers, end_hold: Callable[[], None]) -> None:
    markers.start("task", "delivery", "run-1", 0)
    assert markers.start("task", "other", "run-2", 0) == DUPLICATE
    end_hold()
    assert markers.start("task", "other", "run-2", 0) == DUPLICATE
    markers.pause("task", "run-1")
    assert markers.start("task", "other", "run-2", 1) == DUPLICATE
    markers.done("task", "run-1")
    assert markers.start("task", "other", "run-2", 0) == DUPLICATE


def test_the_first_of_two_deliveries_runs_whichever_comes_later(markers: Markers) -> None:
    assert [
        markers.start(task, delivery, f"run-{delivery}", 0).verdict
        for task, delivery in [("a", "1"), ("b", "1"), ("a", "2"), ("b", "2")]
    ] == [MarkerVerdict.OWN] * 2 + [MarkerVerdict.DUPLICATE] * 2


def test_what_is_done_is_dropped(markers: Markers) -> None:
    markers.start("task", "delivery", "run-1", 0)
    assert markers.done("task", "run-1")
    assert markers.start("task", "delivery", "run-2", 0) == DONE
    assert markers.start("task", "delivery", "run-2", 1) == DONE


def test_a_message_without_our_header_runs(markers: Markers) -> None:
    assert markers.start("task", "", "run-1", 0) == OWN
    assert markers.start("other", "", "run-2", 0) == OWN


# One run at a time


def test_a_live_run_is_met_with_the_time_that_it_has_left(markers: Markers) -> None:
    markers.start("task", "delivery", "run-1", 0)
    met = markers.start("task", "delivery", "run-2", 0)
    assert met.verdict is MarkerVerdict.LIVE
    assert timedelta(seconds=13) < met.remaining <= timedelta(seconds=15)


def test_a_run_whose_hold_ran_out_is_taken_over_and_changes_nothing_more(
    markers: Markers, end_hold: Callable[[], None], dump: Callable[[], object]
) -> None:
    markers.start("task", "delivery", "run-1", 0)
    end_hold()
    assert markers.start("task", "delivery", "run-2", 0) == OWN
    before = dump()
    assert not markers.renew("task", "run-1")
    assert not markers.pause("task", "run-1")
    assert not markers.done("task", "run-1")
    assert dump() == before
    assert markers.done("task", "run-2")


def test_a_run_that_was_paused_and_not_taken_over_goes_on(markers: Markers, end_hold: Callable[[], None]) -> None:
    markers.start("task", "delivery", "run-1", 0)
    end_hold()
    assert markers.renew("task", "run-1")
    assert markers.start("task", "delivery", "run-2", 0).verdict is MarkerVerdict.LIVE


def test_a_renewal_holds_the_marker_on(markers: Markers, client: redis.Redis, keys: Keys) -> None:
    markers.start("task", "delivery", "run-1", 0)
    client.hset(keys.marker("task"), "hold", server_milliseconds(client) + 100)
    assert markers.renew("task", "run-1")
    assert markers.start("task", "delivery", "run-2", 0).remaining > timedelta(seconds=13)


def test_a_hold_ends_by_the_servers_clock(server_url: str, keys: Keys) -> None:
    with connect(server_url, timeout=timedelta(seconds=5)) as client:
        markers = Markers(client, keys, hold=timedelta(milliseconds=50))
        markers.start("task", "delivery", "run-1", 0)
        wait_until(lambda: markers.start("task", "delivery", "run-2", 0) == OWN, "the hold is over", 5)


def test_a_clock_that_is_set_back_makes_no_hold_longer(markers: Markers, client: redis.Redis, keys: Keys) -> None:
    markers.start("task", "delivery", "run-1", 0)
    client.hset(keys.marker("task"), "hold", server_milliseconds(client) + HOUR)
    met = markers.start("task", "delivery", "run-2", 0)
    assert met.verdict is MarkerVerdict.LIVE
    assert met.remaining <= timedelta(seconds=15)
    assert int(client.hget(keys.marker("task"), "hold")) <= server_milliseconds(client) + 15_000


def test_a_renewal_that_comes_after_the_end_does_not_bring_the_run_back(markers: Markers) -> None:
    markers.start("task", "delivery", "run-1", 0)
    markers.done("task", "run-1")
    assert not markers.renew("task", "run-1")
    assert not markers.pause("task", "run-1")
    assert markers.start("task", "delivery", "run-2", 0) == DONE


def test_a_renewal_that_comes_after_a_pause_does_not_keep_the_retry_waiting(markers: Markers) -> None:
    markers.start("task", "delivery", "run 1", 0)
    markers.pause("task", "run 1")
    assert not markers.renew("task", "run 1")
    assert markers.start("task", "delivery", "run 2", 1).verdict is MarkerVerdict.OWN


def test_a_run_that_never_began_changes_nothing(markers: Markers, dump: Callable[[], object]) -> None:
    before = dump()
    assert not markers.renew("task", "run-1")
    assert not markers.pause("task", "run-1")
    assert dump() == before


# Retries


def test_a_retry_goes_on_at_once_after_a_pause(markers: Markers) -> None:
    markers.start("task", "delivery", "run-1", 0)
    assert markers.pause("task", "run-1")
    assert markers.start("task", "delivery", "run-2", 1) == OWN


def test_an_attempt_that_a_later_one_has_followed_is_a_duplicate(markers: Markers) -> None:
    markers.start("task", "delivery", "run-1", 0)
    markers.pause("task", "run-1")
    markers.start("task", "delivery", "run-2", 1)
    assert markers.start("task", "delivery", "run-3", 0) == DUPLICATE
    markers.pause("task", "run-2")
    assert markers.start("task", "delivery", "run-3", 0) == DUPLICATE


def test_an_attempt_that_is_delivered_again_before_its_retry_goes_on(markers: Markers) -> None:
    markers.start("task", "delivery", "run-1", 0)
    markers.pause("task", "run-1")
    assert markers.start("task", "delivery", "run-2", 0) == OWN


# Bodies that kill their worker


def test_after_five_starts_without_an_end_the_sixth_ends_the_task(
    markers: Markers, end_hold: Callable[[], None]
) -> None:
    verdicts = []
    for number in range(6):
        verdicts.append(markers.start("task", "delivery", f"run-{number}", 0))
        end_hold()
    assert verdicts == [OWN] * 5 + [EXHAUSTED]
    assert markers.done("task", "run-5")
    assert markers.start("task", "delivery", "run-6", 0) == DONE


def test_each_attempt_has_its_five_starts(markers: Markers, end_hold: Callable[[], None]) -> None:
    for attempt in range(3):
        for number in range(5):
            assert markers.start("task", "delivery", f"run-{attempt}-{number}", attempt) == OWN
            end_hold()


def test_a_pause_is_an_end(markers: Markers) -> None:
    for number in range(10):
        assert markers.start("task", "delivery", f"run-{number}", 0) == OWN
        markers.pause("task", f"run-{number}")


def test_a_start_that_is_sent_again_counts_once(markers: Markers) -> None:
    for _ in range(10):
        assert markers.start("task", "delivery", "run-1", 0) == OWN


def test_a_start_whose_reply_was_lost_is_found_as_ours(proxy: Proxy, keys: Keys) -> None:
    with connect(proxy.url, timeout=timedelta(seconds=1)) as client:
        markers = Markers(client, keys)
        client.ping()
        proxy.lose_replies = True
        with pytest.raises(StoreError):
            markers.start("task", "delivery", "run-1", 0)
        proxy.heal()
        assert markers.start("task", "delivery", "run-1", 0) == OWN


# What else a start does


def test_a_start_ends_the_fires_intent(markers: Markers, client: redis.Redis, keys: Keys) -> None:
    client.hset(keys.intents, mapping={"task": "1 {}", "other": "1 {}"})
    markers.start("task", "delivery", "run-1", 0)
    assert client.hkeys(keys.intents) == ["other"]
    client.hset(keys.intents, "task", "1 {}")
    markers.start("task", "another", "run-2", 0)
    assert client.hkeys(keys.intents) == ["other"]


def test_a_marker_lives_for_its_time_from_its_last_use(markers: Markers, client: redis.Redis, keys: Keys) -> None:
    uses = [
        lambda: markers.start("task", "delivery", "run-1", 0),
        lambda: markers.renew("task", "run-1"),
        lambda: markers.start("task", "delivery", "run-2", 0),
        lambda: markers.start("task", "other", "run-2", 0),
        lambda: markers.pause("task", "run-1"),
        lambda: markers.done("task", "run-1"),
        lambda: markers.start("task", "delivery", "run-2", 0),
    ]
    for use in uses:
        use()
        assert 5.9 * HOUR < client.pttl(keys.marker("task")) <= 6 * HOUR
        client.pexpire(keys.marker("task"), HOUR)


def test_a_marker_takes_little_room(markers: Markers, client: redis.Redis, keys: Keys) -> None:
    task, delivery, run = ("0f8fad5b-d9cb-469f-a165-70867728950e",) * 3
    markers.start(task, delivery, run, 0)
    markers.done(task, run)
    assert client.memory_usage(keys.marker(task)) < 400


def test_after_a_loss_of_data_an_end_is_written_all_the_same(markers: Markers, client: redis.Redis) -> None:
    markers.start("task", "delivery", "run-1", 0)
    client.flushall()
    assert not markers.renew("task", "run-1")
    assert markers.done("task", "run-1")
    assert markers.start("task", "delivery", "run-2", 0).verdict in {MarkerVerdict.DONE, MarkerVerdict.DUPLICATE}


def test_every_key_ends(markers: Markers, keys_without_expiry: Callable[[], set[str]]) -> None:
    markers.start("task", "delivery", "run-1", 0)
    markers.start("other", "delivery", "run-1", 0)
    markers.done("other", "run-1")
    assert keys_without_expiry() == set()
