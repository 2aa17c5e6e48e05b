"""Clients of the lease's server.

Every wait has an end, and nothing is retried behind our back: redis-py would send a request whose reply was lost a
second time, and hold a call for longer than a lease lives.
"""

import inspect
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from redis import Connection as TcpConnection
from redis import ConnectionPool, Redis, SSLConnection, UnixDomainSocketConnection, sentinel
from redis.backoff import NoBackoff
from redis.connection import AbstractConnection
from redis.retry import Retry

from celery_leased_beat.store.address import Address, address
from celery_leased_beat.store.cluster import Owners
from celery_leased_beat.store.connection import Connection

_sentinel: Any = sentinel  # redis-py's module of that name has no types


def connect(url: str, *, options: Mapping[str, Any] | None = None, timeout: timedelta, key: str = "") -> Redis:
    """Return a client with a pool, for any number of threads. It connects when it is used.

    ``options`` are Celery's transport options; ``timeout`` bounds a connect and each answer, unless an option is
    stricter. Of a Cluster it is a client of the node that owns ``key``. Raises ``SettingsError``.
    """
    seconds = timeout.total_seconds()
    return Redis.from_pool(_pool(address(url, options or {}), key, connect=seconds, answer=seconds))


def dedicated(url: str, *, options: Mapping[str, Any] | None = None, timeout: timedelta, key: str = "") -> Connection:
    """Return one connection for one thread, outside any pool; ``timeout`` bounds a whole call over it.

    Of a call that has to connect first, that takes up to a half, and TLS, AUTH and SELECT up to a sixth each. Of a
    Cluster it leads to the node that owns ``key``. Raises ``SettingsError``.
    """
    seconds = timeout.total_seconds()
    return Connection(_pool(address(url, options or {}), key, connect=seconds / 2, answer=seconds / 6), timeout)


def _pool(server: Address, key: str, *, connect: float, answer: float) -> ConnectionPool:
    behaviour = {
        "protocol": 2,
        "decode_responses": True,
        "encoding_errors": "replace",
        **without_retries(server.options, connect=connect, answer=answer),
    }
    if server.sentinels:
        return _sentinel_pool(server, behaviour, connect=connect, answer=answer)
    if server.nodes:
        return _cluster_pool(server, behaviour, key, connect=connect, answer=answer)
    kind: type[AbstractConnection] = UnixDomainSocketConnection if server.socket else TcpConnection
    return ConnectionPool(connection_class=SSLConnection if server.secure else kind, **behaviour)


def _sentinel_pool(server: Address, behaviour: dict[str, Any], *, connect: float, answer: float) -> ConnectionPool:
    named = server.sentinel_options
    security = {name: value for name, value in server.options.items() if name.startswith("ssl_")}
    own = {**security, "ssl": server.secure, **named.get("sentinel_kwargs", {})}
    watchers = _sentinel.Sentinel(
        list(server.sentinels),
        min_other_sentinels=int(named.get("min_other_sentinels", 0)),
        # A sentinel that is dead must leave time for the next one and for the primary.
        sentinel_kwargs=without_retries(own, connect=connect / 4, answer=answer / 2),
    )
    pool: ConnectionPool = _sentinel.SentinelConnectionPool(
        named["master_name"], watchers, ssl=server.secure, **behaviour
    )
    return pool


def _cluster_pool(
    server: Address, behaviour: dict[str, Any], key: str, *, connect: float, answer: float
) -> ConnectionPool:
    # A node that is dead must leave time for the next one and for the owner.
    own = {**behaviour, "ssl": server.secure, **without_retries({}, connect=connect / 4, answer=answer / 2)}
    owners = Owners(server.nodes, own, seconds=connect / 2)
    pool: ConnectionPool = _sentinel.SentinelConnectionPool(key, owners, ssl=server.secure, **behaviour)
    return pool


def without_retries(options: Mapping[str, Any], *, connect: float, answer: float) -> dict[str, Any]:
    """Return a client's ``options`` with one try of each call, and no longer waits (seconds) than these."""
    return {
        **options,
        **_unnamed(),
        "socket_connect_timeout": _stricter(options.get("socket_connect_timeout"), connect),
        "socket_timeout": _stricter(options.get("socket_timeout"), answer),
        "retry": Retry(NoBackoff(), 0),
        "retry_on_error": [],
    }


def _stricter(wanted: Any, bound: float) -> float:
    return min(float(wanted), bound) if wanted else bound


def _unnamed() -> dict[str, None]:
    """Return what keeps a connection from two more round trips, with the library's name, when it opens."""
    if "driver_info" in inspect.signature(AbstractConnection.__init__).parameters:
        return {"driver_info": None}
    return {"lib_name": None, "lib_version": None}
