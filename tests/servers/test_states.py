"""READONLY, OOM and their like, at any call: no exit, no false "held", no false "lost"."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from threading import Thread

import pytest
import redis

from celery_leased_beat.errors import StoreError
from celery_leased_beat.store import connect
from examples.valkey import HOST, Server
from tests.brokers.stand import Stand
from tests.nodes.cluster import ClusterNode
from tests.nodes.waiting import wait_until
from tests.servers.states import STATES, State, misconf, noreplicas, oom, readonly
from tests.servers.store import REPLICA, TTL, Store

#: Longer than trust in a lease of these tests lasts (seconds).
HELD_UP = 3.5


@pytest.fixture(scope="module")
def own() -> Iterator[Server]:
    """A server that may be brought into any state."""
    with Server("--enable-protected-configs", "yes") as own:
        yield own


@pytest.mark.parametrize("state", STATES.values(), ids=STATES.keys())
def test_no_call_takes_a_refusal_for_an_answer(state: State, own: Server, namespace: str) -> None:
    assert_only_the_truth_is_answered(own.url, namespace, state(own))


def test_no_call_takes_a_server_that_loads_its_data_for_an_answer(namespace: str) -> None:
    delays = ("--key-load-delay", "1000", "--loading-process-events-interval-bytes", "1024")
    with Server(*delays) as server:
        with redis.Redis(port=server.port) as client:
            client.mset({f"key-{number}": "x" * 100 for number in range(3000)})
        assert_only_the_truth_is_answered(server.url, namespace, loading(server))


def test_no_call_takes_a_cluster_that_is_down_for_an_answer(namespace: str) -> None:
    with ClusterNode() as node:
        node.ask("CLUSTER ADDSLOTSRANGE", 0, 16383)
        wait_until(lambda: node.ask("CLUSTER INFO")["cluster_state"] == "ok", "a Cluster")
        assert_only_the_truth_is_answered(f"redis+cluster://{HOST}:{node.port}", namespace, clusterdown(node))


def assert_only_the_truth_is_answered(url: str, namespace: str, state: AbstractContextManager[object]) -> None:
    """In ``state``, as long as the lease and a marker are ours, each call says so or raises ``StoreError``."""
    with Store(url, namespace) as store, Store(url, namespace) as other:
        store.take()
        with state:
            refused = [name for name, call in store.calls().items() if name != "release" and not call.says_the_truth()]
            assert not _answer(lambda: other.lease.acquire("other", REPLICA)), "another has it too"
        assert {"renew", "claim", "start"} <= set(refused)
        for name, call in store.calls().items():
            wait_until(call.says_the_truth, f"{name} is answered again")


def _answer(make: Callable[[], object]) -> object:
    try:
        return make()
    except StoreError:
        return None


@contextmanager
def loading(server: Server) -> Iterator[None]:
    """A server that was restarted, and reads its data."""
    server.stop()
    start = Thread(target=server.start)
    start.start()
    with connect(server.url, timeout=TTL) as client:
        wait_until(lambda: isinstance(_ping(client), redis.exceptions.BusyLoadingError), "a server that loads")
    yield
    start.join()


@contextmanager
def clusterdown(node: ClusterNode) -> Iterator[None]:
    """A Cluster in which nobody owns our slot."""
    node.ask("CLUSTER DELSLOTSRANGE", 0, 16383)
    yield
    node.ask("CLUSTER ADDSLOTSRANGE", 0, 16383)


def _ping(client: redis.Redis) -> object:
    try:
        return client.ping()
    except redis.RedisError as error:
        return error


def test_a_beat_outlives_each_state_and_fires_what_was_due_in_it(own: Server, serve: Callable[..., Stand]) -> None:
    stand = serve(own.url)
    stand.reached("report", 2)
    for state in (readonly, oom, noreplicas, misconf):
        with state(own):
            stand.stays(HELD_UP)
        stand.reached("report", int(HELD_UP))
    with redis.Redis(port=own.port) as client:
        client.script_flush()
    stand.reached("report", 1)
    found = stand.settled()
    assert found.doubled == []
    assert stand.beat.alive()
