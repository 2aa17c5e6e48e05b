"""A server that may evict what is kept in it: each replica says so once, as soon as it holds the lease."""

from collections.abc import Iterator

import pytest
import redis

from celery_leased_beat.store import Keys
from tests.nodes.waiting import wait_until
from tests.servers.replica import serving

POLICY = "maxmemory-policy"


@pytest.fixture
def policy(client: redis.Redis) -> Iterator[None]:
    yield
    client.config_set(POLICY, "noeviction")


@pytest.mark.parametrize("value", ["allkeys-lru", "volatile-ttl"])
@pytest.mark.usefixtures("policy")
def test_a_policy_that_evicts_our_keys_is_warned_of_once(
    value: str, client: redis.Redis, server_url: str, namespace: str, caplog: pytest.LogCaptureFixture
) -> None:
    client.config_set(POLICY, value)
    with serving(namespace, server_url, {}) as runner:
        wait_until(lambda: runner.turn(0.1) or said(caplog), "a warning")
        runner.turn(0.1)
    (line,) = said(caplog)
    assert value in line


def test_nothing_is_said_of_a_server_that_evicts_nothing(
    server_url: str, client: redis.Redis, namespace: str, caplog: pytest.LogCaptureFixture
) -> None:
    with serving(namespace, server_url, {}) as runner:
        wait_until(lambda: runner.turn(0.1) or client.exists(Keys(namespace).lease), "a holder")
        runner.turn(0.1)
    assert said(caplog) == []


def said(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [line for line in caplog.messages if POLICY in line]
