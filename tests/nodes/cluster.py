"""A Cluster of this machine: three primaries, the third of the slots each; and maybe a spare node."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, Self
from uuid import uuid4

import redis
from redis.crc import REDIS_CLUSTER_HASH_SLOTS, key_slot

from examples.valkey import HOST, PATIENCE, Server, free_port
from tests.nodes.waiting import wait_until

#: Milliseconds after which a silent node is taken for dead; the failover then takes about as long again.
NODE_TIMEOUT = 1000


class ClusterNode(Server):
    """A node, which knows no other at first."""

    def __init__(self) -> None:
        self.bus_port = free_port()
        super().__init__(
            "--cluster-enabled", "yes", "--cluster-port", str(self.bus_port),
            "--cluster-node-timeout", str(NODE_TIMEOUT), "--cluster-require-full-coverage", "no",
        )  # fmt: skip

    @property
    def client(self) -> redis.Redis:
        return redis.Redis(port=self.port, decode_responses=True)

    def ask(self, *command: object) -> Any:
        with self.client as client:
            return client.execute_command(*command)


class LocalCluster:
    """``nodes`` are the primaries; ``spares`` have no slots, and may become replicas."""

    def __init__(self, spares: int = 0) -> None:
        self.nodes = [ClusterNode() for _ in range(3)]
        self.spares = [ClusterNode() for _ in range(spares)]
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        for node in self._all:
            self._stack.enter_context(node)
        first, *rest = self._all
        for node in rest:
            first.ask("CLUSTER MEET", HOST, node.port, node.bus_port)
        for index, node in enumerate(self.nodes):
            share = REDIS_CLUSTER_HASH_SLOTS // len(self.nodes) + 1
            last = min((index + 1) * share, REDIS_CLUSTER_HASH_SLOTS) - 1
            node.ask("CLUSTER ADDSLOTSRANGE", index * share, last)
        wait_until(lambda: all(self._is_complete(node) for node in self._all), "a Cluster", PATIENCE)
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    @property
    def url(self) -> str:
        """The URL of the Cluster by two of its nodes."""
        return f"redis+cluster://{HOST}:{self.nodes[0].port};{HOST}:{self.nodes[1].port}"

    def owner(self, key: str) -> ClusterNode:
        """The primary that has the slot of ``key``."""
        slot = key_slot(key.encode())
        ports = [first_node[1] for start, end, first_node, *_ in self._slots() if start <= slot <= end]
        return next(node for node in self._all if node.port == ports[0])

    def give_replica(self, primary: ClusterNode) -> None:
        """Make the spare node a replica of ``primary``."""
        (spare,) = self.spares
        spare.ask("CLUSTER REPLICATE", primary.ask("CLUSTER MYID"))
        wait_until(lambda: _is_in_step(spare), "a replica in step", PATIENCE)

    def namespace_on(self, node: ClusterNode) -> str:
        """A new namespace whose keys ``node`` has."""
        names = (f"test-{uuid4().hex[:12]}" for _ in range(1000))
        return next(name for name in names if self.owner(f"{{{name}}}") is node)

    @contextmanager
    def moving(self, key: str, target: ClusterNode) -> Iterator[None]:
        """The slot of ``key`` moves to ``target``, its keys at the end of the block."""
        source, slot = self.owner(key), key_slot(key.encode())
        target.ask("CLUSTER SETSLOT", slot, "IMPORTING", source.ask("CLUSTER MYID"))
        source.ask("CLUSTER SETSLOT", slot, "MIGRATING", target.ask("CLUSTER MYID"))
        yield
        keys = source.ask("CLUSTER GETKEYSINSLOT", slot, 100)
        source.ask("MIGRATE", HOST, target.port, "", 0, 5000, "KEYS", *keys)
        for node in (target, source, *self.nodes):
            node.ask("CLUSTER SETSLOT", slot, "NODE", target.ask("CLUSTER MYID"))

    def _slots(self) -> list[Any]:
        for node in self._all:
            if node.pid:
                return list(node.ask("CLUSTER SLOTS"))
        raise AssertionError("no node of the Cluster runs")

    @property
    def _all(self) -> list[ClusterNode]:
        return [*self.nodes, *self.spares]

    def _is_complete(self, node: ClusterNode) -> bool:
        info = node.ask("CLUSTER INFO")
        return info["cluster_state"] == "ok" and int(info["cluster_known_nodes"]) == len(self._all)


def _is_in_step(node: ClusterNode) -> bool:
    with node.client as client:
        return client.info("replication").get("master_link_status") == "up"
