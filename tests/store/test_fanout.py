"""The first attempt fixes to whom an envelope goes; each listener is sent to once."""

from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import pytest
import redis

from celery_leased_beat.store import Fanout, Fanouts, Keys, connect


@pytest.fixture
def fanouts(server_url: str, keys: Keys) -> Iterator[Fanouts]:
    with connect(server_url, timeout=timedelta(seconds=5)) as client:
        yield Fanouts(client, keys)


def listeners(*names: str) -> dict[str, dict[str, Any]]:
    return {name: {"queue": f"of {name}"} for name in names}


def test_the_first_attempt_fixes_the_list_and_its_order(fanouts: Fanouts) -> None:
    assert fanouts.begin("envelope", listeners("c", "a", "b")) == Fanout(listeners("c", "a", "b"), frozenset())
    found = fanouts.begin("envelope", listeners("d", "a"))
    assert list(found.listeners) == ["c", "a", "b"]


def test_a_retry_finds_who_was_sent_to(fanouts: Fanouts) -> None:
    fanouts.begin("envelope", listeners("c", "a", "b"))
    fanouts.sent("envelope", "a")
    fanouts.sent("envelope", "a")
    found = fanouts.begin("envelope", listeners("c", "a", "b"))
    assert found.sent == {"a"}
    assert list(found.rest) == ["c", "b"]


def test_two_envelopes_know_nothing_of_each_other(fanouts: Fanouts) -> None:
    fanouts.begin("one", listeners("a"))
    fanouts.sent("one", "a")
    assert fanouts.begin("other", listeners("a")).rest == listeners("a")


def test_no_listeners_are_a_list_too(fanouts: Fanouts) -> None:
    assert fanouts.begin("envelope", {}) == Fanout({}, frozenset())
    assert fanouts.begin("envelope", listeners("later")).listeners == {}


def test_a_listener_may_be_named_as_a_field_is(fanouts: Fanouts) -> None:
    fanouts.begin("envelope", listeners("listeners", "sent:x"))
    fanouts.sent("envelope", "listeners")
    assert fanouts.begin("envelope", {}).rest == listeners("sent:x")


def test_a_record_lives_for_its_time_from_its_last_use(
    fanouts: Fanouts, client: redis.Redis, keys: Keys, keys_without_expiry: Callable[[], set[str]]
) -> None:
    for use in (lambda: fanouts.begin("envelope", listeners("a")), lambda: fanouts.sent("envelope", "a")):
        use()
        assert 5.9 * 3_600_000 < client.pttl(keys.fanout("envelope")) <= 6 * 3_600_000
        client.pexpire(keys.fanout("envelope"), 1000)
    assert keys_without_expiry() == set()
