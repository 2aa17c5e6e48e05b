"""One RabbitMQ node per test process, and per module and broker one app at work."""

from collections.abc import Callable, Iterator

import pytest

from examples.valkey import Server
from tests.brokers.brokers import BROKERS, Broker
from tests.brokers.stand import Stand
from tests.nodes.rabbitmq import LocalRabbitMQ
from tests.processes.sink import Sink

#: How much of each log a failure shows.
LOG_LINES = 60


@pytest.fixture(scope="session")
def rabbitmq() -> Iterator[Callable[[], LocalRabbitMQ]]:
    """Gives the node, which starts when it is first asked for."""
    nodes: list[LocalRabbitMQ] = []

    def node() -> LocalRabbitMQ:
        if not nodes:
            nodes.append(LocalRabbitMQ())
            nodes[0].start()
        return nodes[0]

    yield node
    for one in nodes:
        one.close()


@pytest.fixture(scope="module", params=BROKERS.values(), ids=BROKERS.keys())
def broker(request: pytest.FixtureRequest, server: Server, rabbitmq: Callable[[], LocalRabbitMQ]) -> Iterator[Broker]:
    """A broker, empty."""
    with request.param(rabbitmq) as broker:
        yield broker


@pytest.fixture(scope="module")
def stand(broker: Broker, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stand]:
    folder = tmp_path_factory.mktemp("stand")
    with Server() as sink, Stand(broker.settings, Sink(sink.url), folder) as stand:
        yield stand
    for log in sorted(folder.glob("*.log")):
        # Shown with a failure, as captured output of the teardown.
        print(f"--- the end of {log.name}", *log.read_text(errors="replace").splitlines()[-LOG_LINES:], sep="\n")
