"""Which node of a Cluster to talk to: all our keys share one slot, so the node that owns it has everything.

Each new connection asks a node of the Cluster for that owner, as it would ask a Sentinel for the primary, and goes
there. A connection whose node says that it is not the owner (any more) is closed, and the next one asks again.
"""

import time
from collections.abc import Iterable, Mapping
from typing import Any

from redis import Redis, exceptions
from redis.crc import key_slot

Node = tuple[str, int]


class Owners:
    """Knows who owns a key; stands in for redis-py's ``Sentinel`` behind a ``SentinelConnectionPool``.

    ``options`` are those of a connection to a node. ``seconds`` bounds the asking, but for the last node that is asked.
    """

    def __init__(self, nodes: Iterable[Node], options: Mapping[str, Any], seconds: float) -> None:
        self._nodes = list(nodes)
        self._options = options
        self._seconds = seconds

    def discover_master(self, service_name: str) -> Node:
        """Return the node that owns the key ``service_name`` (redis-py's word). Raises ``ConnectionError``."""
        deadline = time.monotonic() + self._seconds
        problem: Exception | None = None
        for node in list(self._nodes):
            if time.monotonic() > deadline:
                break
            try:
                return self._ask(node, key_slot(service_name.encode()))
            except (exceptions.RedisError, OSError) as error:
                problem = error
        raise exceptions.ConnectionError(f"no node of the Cluster says who owns {service_name}: {problem}")

    def _ask(self, node: Node, slot: int) -> Node:
        """Ask one node. One that is cut off from the others still takes itself for the owner, but knows its state."""
        with Redis(host=node[0], port=node[1], **self._options) as client:
            state: Any = client.execute_command("CLUSTER INFO")
            ranges: Any = client.execute_command("CLUSTER SLOTS")
        if state["cluster_state"] != "ok":
            raise exceptions.ClusterDownError(f"the Cluster is down, says {node[0]}:{node[1]}")
        shards = [(first, last, [_node(one, node) for one in nodes]) for first, last, *nodes in ranges]
        others = [other for _, _, nodes in shards for other in nodes]
        self._nodes = list(dict.fromkeys([node, *others, *self._nodes]))
        for first, last, (primary, *_) in shards:
            if first <= slot <= last:
                return primary
        raise exceptions.ClusterDownError(f"nobody owns slot {slot}, says {node[0]}:{node[1]}")


def is_elsewhere(reply: object) -> bool:
    """Return whether ``reply`` is of a server that is not, or not any more, the one to talk to."""
    if isinstance(reply, exceptions.ReadOnlyError | exceptions.MovedError | exceptions.ClusterDownError):
        return True
    # Older versions of redis-py know the answers of a Cluster only in a client for it.
    return isinstance(reply, exceptions.ResponseError) and str(reply).startswith(("MOVED ", "CLUSTERDOWN "))


def _node(described: list[Any], asked: Node) -> Node:
    """Return a node as CLUSTER SLOTS describes it; one without a name is on the host that was asked."""
    return described[0] or asked[0], int(described[1])
