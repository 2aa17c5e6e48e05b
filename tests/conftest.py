"""What all layers share: a real Valkey per test process, an empty database and a namespace per test."""

from collections.abc import Callable, Iterator
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from uuid import uuid4

import pytest
import redis

from examples.valkey import Server, program
from tests.chaos.options import pytest_addoption
from tests.nodes.programs import missing

__all__ = ["pytest_addoption"]  # a hook of pytest's, which looks for the options of all tests here


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    """A Valkey of this test process (with xdist: one per worker). A test that stops one starts its own."""
    try:
        program()
    except RuntimeError as error:
        missing(str(error))
    with Server() as server:
        yield server


@pytest.fixture
def server_url(server: Server) -> str:
    """The URL of that Valkey; its database was emptied for this test."""
    with redis.Redis.from_url(server.url) as connection:
        connection.flushall()
    return server.url


@pytest.fixture
def client(server_url: str) -> Iterator[redis.Redis]:
    """A plain client of that Valkey, which answers in text."""
    with redis.Redis.from_url(server_url, decode_responses=True) as client:
        yield client


@pytest.fixture
def namespace() -> str:
    """A namespace that no other test has."""
    return f"test-{uuid4().hex[:12]}"


@pytest.fixture
def keys_without_expiry(client: redis.Redis) -> Callable[[], set[str]]:
    """Tells which keys would stay for ever, to be compared with what the docs list as kept."""
    return lambda: {key for key in client.scan_iter() if client.pttl(key) == -1}


@pytest.fixture
def installed() -> Distribution:
    """The package as it is installed: tox installs its wheel."""
    try:
        return distribution("celery-leased-beat")
    except PackageNotFoundError:
        missing("the package is not installed here")
