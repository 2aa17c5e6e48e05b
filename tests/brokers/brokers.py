"""The brokers: what an app is told of each, and how each is lost and comes back."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from examples.valkey import Server
from tests.nodes.rabbitmq import LocalRabbitMQ
from tests.nodes.sentinel import Watched

#: Redis gives a message of a lost worker to another one after this many seconds.
VISIBILITY_TIMEOUT = 10

_REDIS = {
    "visibility_timeout": VISIBILITY_TIMEOUT,
    # Else kombu looks only every hundred seconds whether that time is over.
    "unacked_restore_interval": 1,
    "unacked_restore_throttle": 1,
}


@dataclass(frozen=True)
class Broker:
    """``settings`` are Celery's, the URLs of the broker and of the lease among them. What it holds survives a loss.

    With a worker's connection so many messages may vanish, as docs/guarantees.md has it of Redis: ``vanish``.
    """

    settings: dict[str, Any]
    lose: Callable[[], object]
    bring_back: Callable[[], object]
    vanish: int = 0


@contextmanager
def same_server(_: Callable[[], LocalRabbitMQ]) -> Iterator[Broker]:
    """The lease is where the broker is, as the default has it: both are lost."""
    with Server() as server:
        yield Broker(_on_redis(server.url), server.stop, server.start, vanish=1)


@contextmanager
def another_database(_: Callable[[], LocalRabbitMQ]) -> Iterator[Broker]:
    with Server() as server:
        settings = _on_redis(server.url.removesuffix("/0") + "/3", leased_beat_backend=server.url)
        yield Broker(settings, server.stop, server.start, vanish=1)


@contextmanager
def another_server(_: Callable[[], LocalRabbitMQ]) -> Iterator[Broker]:
    with Server() as server, Server() as lease:
        yield Broker(_on_redis(server.url, leased_beat_backend=lease.url), server.stop, server.start, vanish=1)


@contextmanager
def sentinel(_: Callable[[], LocalRabbitMQ]) -> Iterator[Broker]:
    """The lease is behind the same Sentinel. What comes back is the replica, as the new primary."""
    with Watched() as watched:
        settings = _on_redis(watched.url)
        settings["broker_transport_options"] |= watched.transport_options
        yield Broker(settings, watched.primary.stop, watched.promoted, vanish=1)


@contextmanager
def rabbitmq_classic(rabbitmq: Callable[[], LocalRabbitMQ]) -> Iterator[Broker]:
    with Server() as lease:
        node = rabbitmq()
        settings = {"broker_url": node.url, "leased_beat_backend": lease.url, "task_default_queue": "classic"}
        yield Broker(settings, node.kill, node.start)


@contextmanager
def rabbitmq_quorum(rabbitmq: Callable[[], LocalRabbitMQ]) -> Iterator[Broker]:
    """With it Celery delays messages in RabbitMQ, by a ladder of queues.

    It is stopped and not killed: a lone node of RabbitMQ 3.10 does not recover a quorum queue that it has just made.
    """
    with Server() as lease:
        node = rabbitmq()
        settings = {
            "broker_url": node.url, "leased_beat_backend": lease.url, "task_default_queue": "quorum",
            "task_default_queue_type": "quorum", "task_default_exchange_type": "topic",
        }  # fmt: skip
        yield Broker(settings, node.stop, node.start)


BROKERS = {
    "the lease's own server": same_server,
    "another database": another_database,
    "another server": another_server,
    "Sentinel": sentinel,
    "RabbitMQ, classic queues": rabbitmq_classic,
    "RabbitMQ, quorum queues": rabbitmq_quorum,
}


def _on_redis(url: str, **settings: Any) -> dict[str, Any]:
    return {"broker_url": url, "broker_transport_options": dict(_REDIS), **settings}
