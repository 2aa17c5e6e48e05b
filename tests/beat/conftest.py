"""Replicas and parts of one that tests of beat and of the election drive."""

from collections.abc import Iterator
from typing import Any

import pytest

from celery_leased_beat.election import Presence
from celery_leased_beat.store import Keys, Member, Roll, ServerClock, dedicated
from tests.beat.bench import Bench
from tests.beat.replicas import TTL, Compete, Present, Replica


@pytest.fixture
def bench(server_url: str, namespace: str) -> Iterator[Bench]:
    bench = Bench(server_url, namespace)
    yield bench
    bench.lease.close()


@pytest.fixture
def compete(server_url: str, namespace: str) -> Iterator[Compete]:
    replicas: list[Replica] = []

    def compete(name: str = "a:1", url: str = server_url, **own: Any) -> Replica:
        replicas.append(Replica(url, namespace, name, **own))
        return replicas[-1]

    yield compete
    for replica in replicas:
        replica.stop()


@pytest.fixture
def keys(namespace: str) -> Keys:
    return Keys(namespace)


@pytest.fixture
def present(server_url: str, keys: Keys) -> Iterator[Present]:
    """Puts a replica of a version on the roll, without an election."""
    opened = []

    def present(name: str, version: str) -> Presence:
        opened.append(dedicated(server_url, timeout=TTL))
        return Presence(Roll(opened[-1], keys, ServerClock()), Member(name, name, 1, "one", version))

    yield present
    for connection in opened:
        connection.close()
