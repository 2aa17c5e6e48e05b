"""A lease on a Cluster of three primaries, of which one has all our keys."""

from collections.abc import Callable, Iterator
from datetime import timedelta

import pytest
import redis

from celery_leased_beat.errors import StoreError
from celery_leased_beat.store import Keys, connect
from examples.valkey import HOST, Server
from tests.brokers.entries import NAME
from tests.brokers.stand import Stand
from tests.nodes.cluster import LocalCluster
from tests.nodes.proxy import Proxy
from tests.nodes.waiting import wait_until
from tests.servers.store import Store


@pytest.fixture(scope="module")
def cluster(server: Server) -> Iterator[LocalCluster]:
    """For tests that leave it as it is."""
    with LocalCluster() as cluster:
        yield cluster


@pytest.mark.parametrize("index", [0, 1, 2])
def test_every_call_goes_to_the_node_that_has_our_keys(cluster: LocalCluster, index: int) -> None:
    node = cluster.nodes[index]
    with Store(cluster.url, cluster.namespace_on(node)) as store:
        held = store.take()
        assert held.run_id == node.client.info("server")["run_id"]
        assert all(call.says_the_truth() for call in store.calls().values())


def test_a_dead_node_in_the_url_is_passed_over(cluster: LocalCluster) -> None:
    with Store(f"valkey+cluster://{HOST}:1;{HOST}:{cluster.nodes[2].port}", "shop") as store:
        assert store.take()


def test_a_lease_follows_its_slot(cluster: LocalCluster) -> None:
    namespace = cluster.namespace_on(cluster.nodes[1])
    with Store(cluster.url, namespace) as store:
        store.take()
        with cluster.moving(Keys(namespace).lease, cluster.nodes[2]):
            for name in ("acquire", "renew", "observe", "load", "claim", "start", "hold"):
                store.calls()[name].says_the_truth()
        for name, call in store.calls().items():
            wait_until(call.says_the_truth, f"{name} is answered by the new owner")


def test_without_its_scheme_a_cluster_is_told_from_a_server(cluster: LocalCluster) -> None:
    namespace = cluster.namespace_on(cluster.nodes[1])
    with (
        Store(f"redis://{HOST}:{cluster.nodes[0].port}", namespace) as store,
        pytest.raises(StoreError, match=r"redis\+cluster://"),
    ):
        store.take()


def test_without_any_node_the_answer_says_so() -> None:
    with (
        connect(f"redis+cluster://{HOST}:1;{HOST}:2", timeout=timedelta(seconds=1), key="x") as client,
        pytest.raises(redis.ConnectionError, match="no node of the Cluster"),
    ):
        client.ping()


def test_nodes_that_are_silent_are_not_all_waited_for(server: Server) -> None:
    with Proxy(server.port) as first, Proxy(server.port) as second:
        first.freeze()
        second.freeze()
        url = f"redis+cluster://{HOST}:{first.port};{HOST}:{second.port}"
        with (
            connect(url, timeout=timedelta(seconds=1), key="x") as client,
            pytest.raises(redis.ConnectionError, match="no node of the Cluster"),
        ):
            client.ping()
        assert first.opened
        assert not second.opened, "the time for asking was over with the first one's silence"


def test_a_dead_holder_and_a_dead_node_cost_no_instant(serve: Callable[..., Stand], server: Server) -> None:
    with LocalCluster(spares=1) as cluster:
        owner = cluster.owner(Keys(NAME).lease)
        cluster.give_replica(owner)
        stand = serve(cluster.url, beats=2)
        with Store(cluster.url, NAME) as store:
            wait_until(lambda: len(store.roll_reader.members()) == 2, "both beats look at the lease")
        stand.reached("report", 3)

        holder = stand.holder(owner)
        holder.pause()  # else it may renew the lease, and with it its end
        assert owner.ask("PERSIST", Keys(NAME).lease)
        holder.kill("SIGKILL")
        wait_until(lambda: stand.holder(owner) is not holder, "its connection is seen to be gone, for no lease ends")
        stand.reached("report", 2)

        owner.kill()
        wait_until(lambda: cluster.owner(Keys(NAME).lease) is not owner, "a new owner")
        stand.reached("report", 3)

        found = stand.settled()
        assert found.doubled == []
        assert found.owed == []
