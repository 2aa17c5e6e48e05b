"""The stage of a test of whole processes: pytest-celery's setup, with nodes that are processes of this machine.

A test says what it needs with ``@pytest.mark.stage(...)``: fields of ``Options``, ``workers`` (how many) and their
``concurrency``.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pytest_celery import (
    CeleryBackendCluster,
    CeleryBrokerCluster,
    CeleryTestBackend,
    CeleryTestBroker,
    CeleryTestSetup,
    CeleryWorkerCluster,
)

from examples.valkey import Server
from tests.nodes.celery import worker
from tests.nodes.proxy import Proxy
from tests.nodes.valkey import LocalValkey
from tests.processes.options import Options
from tests.processes.sink import Sink
from tests.processes.stage import APP, Stage

#: How much of each log a failure shows.
LOG_LINES = 60


@pytest.fixture
def wishes(request: pytest.FixtureRequest) -> dict[str, Any]:
    """The arguments of the test's mark."""
    mark = request.node.get_closest_marker("stage")
    return dict(mark.kwargs) if mark else {}


@pytest.fixture
def celery_broker_cluster(server: Server) -> Iterator[CeleryBrokerCluster]:
    node = CeleryTestBroker(LocalValkey("broker"))
    node.ready()
    yield CeleryBrokerCluster(node)
    node.teardown()


@pytest.fixture
def celery_backend_cluster(server: Server) -> Iterator[CeleryBackendCluster]:
    """Where the workers leave what they handled; no test harms it."""
    node = CeleryTestBackend(LocalValkey("sink"))
    node.ready()
    yield CeleryBackendCluster(node)
    node.teardown()


@pytest.fixture
def lease(server: Server) -> Iterator[LocalValkey]:
    """The Valkey of the lease and the ledger."""
    with LocalValkey("lease") as lease:
        yield lease


@pytest.fixture
def options(
    wishes: dict[str, Any],
    celery_broker_cluster: CeleryBrokerCluster,
    celery_backend_cluster: CeleryBackendCluster,
    lease: LocalValkey,
) -> Options:
    changes = {key: value for key, value in wishes.items() if key not in {"workers", "concurrency"}}
    given = Options(
        broker=celery_broker_cluster[0].config()["host_url"],
        backend=lease.url,
        sink=celery_backend_cluster[0].config()["host_url"],
    )
    return Options(**{**given.__dict__, **changes})


@pytest.fixture
def worker_options(options: Options) -> Options:
    """What the workers are told; a module overrides it to put a proxy between them and their broker."""
    return options


@pytest.fixture
def celery_worker_cluster(
    worker_options: Options, wishes: dict[str, Any], tmp_path: Path
) -> Iterator[CeleryWorkerCluster | None]:
    settings = {
        "folder": tmp_path,
        "environment": worker_options.environment(),
        "concurrency": wishes.get("concurrency", 4),
    }
    nodes = [worker(APP, f"worker-{number + 1}", **settings) for number in range(wishes.get("workers", 2))]
    for node in nodes:
        node.container.start()
    for node in nodes:
        node.ready()
    yield CeleryWorkerCluster(*nodes) if nodes else None
    for node in nodes:
        node.teardown()


@pytest.fixture
def broker_proxy(celery_broker_cluster: CeleryBrokerCluster) -> Iterator[Proxy]:
    """A way to the broker that can be cut, frozen and held."""
    with Proxy(celery_broker_cluster[0].container.port) as proxy:
        yield proxy


@pytest.fixture
def lease_proxy(lease: LocalValkey) -> Iterator[Proxy]:
    """A way to the lease's Valkey that can be cut, frozen and held."""
    with Proxy(lease.port) as proxy:
        yield proxy


@pytest.fixture
def stage(celery_setup: CeleryTestSetup, options: Options, lease: LocalValkey, tmp_path: Path) -> Iterator[Stage]:
    stage = Stage(
        options,
        broker=celery_setup.broker.container,
        lease=lease,
        sink=Sink(options.sink),
        workers=celery_setup.worker_cluster or (),
        folder=tmp_path,
    )
    yield stage
    for node in stage.replicas:
        node.teardown()
    for log in sorted(tmp_path.glob("*.log")):
        # Shown with a failure, as captured output of the teardown.
        print(f"--- the end of {log.name}", *log.read_text(errors="replace").splitlines()[-LOG_LINES:], sep="\n")
