"""Leases, ledgers and a faulty path to the real server."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from importlib.resources import files

import pytest
import redis

from celery_leased_beat.engine import Term
from celery_leased_beat.store import (
    Connection,
    Keys,
    Lease,
    Ledger,
    LedgerReader,
    Record,
    ServerClock,
    connect,
    dedicated,
)
from examples.valkey import Server
from tests.nodes.proxy import Proxy

TTL = timedelta(seconds=15)
REPLICA = "host one:4711:0.1.0"
#: Earlier than all that a test decides.
EPOCH = datetime(2000, 1, 1, tzinfo=UTC)

Dump = Mapping[bytes, tuple[bytes | None, int]]


@pytest.fixture
def keys(namespace: str) -> Keys:
    return Keys(namespace)


@pytest.fixture
def open_connection(server_url: str) -> Iterator[Callable[..., Connection]]:
    """Opens connections as the election has them; to a URL of its own where one is given."""
    opened: list[Connection] = []

    def open_one(url: str = server_url, timeout: timedelta = TTL / 3) -> Connection:
        opened.append(dedicated(url, timeout=timeout))
        return opened[-1]

    yield open_one
    for connection in opened:
        connection.close()


@pytest.fixture
def open_lease(open_connection: Callable[..., Connection], keys: Keys) -> Callable[..., Lease]:
    def open_one(*, url: str | None = None, ttl: timedelta = TTL) -> Lease:
        connection = open_connection(url, ttl / 3) if url else open_connection(timeout=ttl / 3)
        return Lease(connection, keys, ttl, ServerClock())

    return open_one


@pytest.fixture
def lease(open_lease: Callable[..., Lease]) -> Lease:
    return open_lease()


@pytest.fixture
def ledger(server_url: str, keys: Keys) -> Iterator[Ledger]:
    with connect(server_url, timeout=timedelta(seconds=5)) as client:
        yield Ledger(client, keys, ServerClock(), replica=REPLICA)


@pytest.fixture
def reader(client: redis.Redis, keys: Keys) -> LedgerReader:
    return LedgerReader(client, keys)


@pytest.fixture
def term(lease: Lease) -> Term:
    """The term of a lease that was just taken."""
    return take(lease, "token-1")


@pytest.fixture
def proxy(server: Server, server_url: str, client: redis.Redis) -> Iterator[Proxy]:
    """A faulty path to the server, which knows all scripts, so that a call is one request."""
    load_scripts(client)
    with Proxy(server.port) as proxy:
        yield proxy


@pytest.fixture
def dump(server_url: str) -> Iterator[Callable[[], Dump]]:
    """Tells all that the server holds: the serialized value of each key, and when it ends."""
    with redis.Redis.from_url(server_url) as raw:
        yield lambda: {key: (raw.dump(key), raw.pexpiretime(key)) for key in raw.scan_iter()}


def take(lease: Lease, token: str) -> Term:
    held = lease.acquire(token, REPLICA)
    assert held is not None
    return Term(held.term, token)


def records(reader: LedgerReader, entry: str | None = None) -> Sequence[Record]:
    return reader.snapshot([], EPOCH, entry).records


def load_scripts(client: redis.Redis) -> None:
    for file in files("celery_leased_beat.store").iterdir():
        if file.name.endswith(".lua"):
            client.script_load(file.read_text("utf-8"))


def server_milliseconds(client: redis.Redis) -> int:
    seconds, microseconds = client.time()
    return int(seconds) * 1000 + int(microseconds) // 1000
