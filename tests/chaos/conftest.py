"""The scene of a chaos test: two servers that are harmed, one that is not, and no process yet."""

from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from random import Random

import pytest

from examples.valkey import Server
from tests.chaos.brokers import RabbitBroker, ValkeyBroker
from tests.chaos.options import BROKERS
from tests.chaos.scene import Scene
from tests.chaos.servers import HarmedValkey
from tests.nodes.valkey import LocalValkey

#: How much of each log a failure shows.
LOG_LINES = 40

#: Seconds that a test may take besides what its options ask for.
NET = 420


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Give the tests here the time that the options ask for."""
    minutes = config.getoption("chaos_minutes", 0.0) + config.getoption("scale_minutes", 0.0)
    asked = minutes * 60 + config.getoption("kills", 0) * 5
    for item in items:
        if item.path.is_relative_to(Path(__file__).parent):
            item.add_marker(pytest.mark.timeout(NET + asked))


@pytest.fixture
def ttl() -> float:
    """Seconds of the lease; a module overrides it."""
    return 3.0


@pytest.fixture
def broker_name(pytestconfig: pytest.Config) -> str:
    """Which broker; a module overrides it."""
    return pytestconfig.getoption("chaos_broker", None) or BROKERS[0]


@pytest.fixture
def scene(server: Server, tmp_path: Path, pytestconfig: pytest.Config, ttl: float, broker_name: str) -> Iterator[Scene]:
    with ExitStack() as stack:
        broker = RabbitBroker() if broker_name == "rabbitmq" else ValkeyBroker("broker")
        lease, sink = HarmedValkey("lease"), LocalValkey("sink")
        for one in (lease, broker, sink):
            stack.enter_context(closing(one))
            one.start()
        draw = Random(pytestconfig.getoption("chaos_seed", 1))
        scene = Scene(lease, broker, sink, folder=tmp_path, draw=draw, ttl=ttl)
        stack.enter_context(closing(scene))
        yield scene
        print(scene.timeline)
        for log in sorted(tmp_path.glob("*.log")):
            print(f"--- the end of {log.name}", *log.read_text(errors="replace").splitlines()[-LOG_LINES:], sep="\n")
