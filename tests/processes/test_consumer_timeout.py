"""RabbitMQ takes a message away from a worker that has not acknowledged it in time: by default after half an hour."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.nodes.celery import WorkerNode, worker
from tests.nodes.rabbitmq import LocalRabbitMQ
from tests.nodes.waiting import wait_until
from tests.processes.happenings import dispatch_slow
from tests.processes.options import Options
from tests.processes.sink import Row, Sink
from tests.processes.stage import APP

#: Seconds: RabbitMQ looks once a second whether a message is out for longer than the timeout.
TIMEOUT, LOOK = 3, 1
BODY = 8.0
#: The message waits for the hold of the run from which it was taken: 15 s.
COMES_AGAIN = 90.0


class Impatient(LocalRabbitMQ):
    """A RabbitMQ with a short consumer timeout."""

    def _environment(self) -> dict[str, str]:
        environment = super()._environment()
        arguments = f" -rabbit consumer_timeout {TIMEOUT * 1000} -rabbit channel_tick_interval {LOOK * 1000}"
        environment["RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS"] += arguments
        return environment


@pytest.fixture
def broker() -> Iterator[Impatient]:
    with Impatient() as broker:
        yield broker


@pytest.fixture
def slow_worker(broker: Impatient, server_url: str, tmp_path: Path) -> Iterator[WorkerNode]:
    options = Options(broker=broker.url, backend=server_url, sink=server_url, entries={})
    node = worker(APP, "worker", folder=tmp_path, environment=options.environment(), concurrency=2)
    assert node.ready()
    yield node
    print(node.logs())
    node.teardown()


def test_a_body_that_takes_longer_comes_to_its_end_once(
    broker: Impatient, slow_worker: WorkerNode, server_url: str
) -> None:
    sink = Sink(server_url)
    message = dispatch_slow(broker.url, BODY)
    wait_until(lambda: sink.rows(), "the body has begun")

    def is_over() -> bool:
        if not slow_worker.alive():  # Celery's worker ends with its channel, once its bodies are done
            slow_worker.container.start()
        return bool(ended(sink)) and "ignored" in slow_worker.logs()

    wait_until(is_over, "it has come to its end, and what came again is dropped", COMES_AGAIN)
    assert [row.id for row in ended(sink)] == [message]


def ended(sink: Sink) -> list[Row]:
    return sink.done("slow")
