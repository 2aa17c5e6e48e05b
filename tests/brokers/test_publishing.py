"""Publishing alone, over each broker: what a beat and a worker send is there, or they know that it is not."""

import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

import pytest
from amqp.exceptions import FrameError, FrameSyntaxError
from celery import Celery
from kombu.exceptions import OperationalError

from celery_leased_beat import Events, LeasedTask
from celery_leased_beat.engine import Intent
from celery_leased_beat.errors import BrokerError
from celery_leased_beat.fires import Fire
from celery_leased_beat.publisher import Publisher
from celery_leased_beat.tasks import sending
from tests.brokers.brokers import Broker
from tests.brokers.entries import SETTINGS
from tests.nodes.rabbitmq import LocalRabbitMQ
from tests.nodes.waiting import wait_until
from tests.processes.happenings import Slow

#: Seconds. What has a bound is given up by then on the busiest machine, and what has none is not.
GIVEN_UP = 60.0


@pytest.fixture
def app(broker: Broker) -> Iterator[Celery]:
    """An app of that broker, with an empty queue of its own."""
    yield from _app(broker.settings)


@pytest.fixture
def rabbit_app(rabbitmq: Callable[[], LocalRabbitMQ]) -> Iterator[Celery]:
    yield from _app({"broker_url": rabbitmq().url, "leased_beat_backend": "redis://nowhere"})


def _app(settings: dict[str, object]) -> Iterator[Celery]:
    app = Celery("publishing", set_as_current=False)
    # A queue of its own: connections are shared by all apps of a process, and remember what they have declared.
    app.conf.update({**SETTINGS, **settings, "task_default_queue": f"publishing-{uuid4()}"})
    yield app
    delete_queue(app)
    app.close()


@pytest.fixture
def publisher(app: Celery) -> Iterator[Publisher]:
    publisher = Publisher(app, "publishing")
    yield publisher
    publisher.close()


def test_the_first_message_after_an_outage_does_not_vanish(app: Celery, publisher: Publisher, broker: Broker) -> None:
    events, fires = Events(app), [intent(), intent()]
    publisher.publish(fires[0])
    before = events.dispatch(Slow(0))
    broker.lose()
    broker.bring_back()
    wait_until(lambda: published(publisher, fires[1]), "a publish after the outage")
    after = wait_until(lambda: dispatched(events), "a dispatch after the outage")
    assert received(app) == {before, after, *(one.fire.id for one in fires)}


def test_a_fire_whose_queue_was_deleted_is_refused_and_then_finds_a_new_one(rabbit_app: Celery) -> None:
    publisher, lost = Publisher(rabbit_app, "publishing"), intent()
    publisher.publish(intent())
    delete_queue(rabbit_app)
    with pytest.raises(Exception, match="NO_ROUTE"):
        publisher.publish(lost)
    publisher.publish(lost)
    publisher.close()
    assert received(rabbit_app) == {lost.fire.id}


#: A queue, a codec and a delivery mode that are not there.
REFUSED: list[dict[str, Any]] = [{"queue": "undefined"}, {"compression": "none such"}, {"delivery_mode": "by hand"}]


def test_a_message_that_cannot_be_sent_is_refused_and_the_broker_is_not_taken_for_lost(
    app: Celery, publisher: Publisher
) -> None:
    app.conf.task_create_missing_queues = False
    for options in REFUSED:
        with pytest.raises(Exception) as caught:  # noqa: PT011
            publisher.publish(replace(intent(), options=options))
        assert not isinstance(caught.value, BrokerError), options
        fine = intent()
        publisher.publish(fine)
        assert received(app) == {fine.fire.id}


@pytest.mark.parametrize(("header", "error"), [(uuid4(), FrameSyntaxError), ("long" * 50_000, FrameError)])
def test_a_header_that_amqp_cannot_carry_is_refused(rabbit_app: Celery, header: Any, error: type[Exception]) -> None:
    publisher, fine = Publisher(rabbit_app, "publishing"), intent()
    with pytest.raises(Exception) as caught:  # noqa: PT011
        publisher.publish(replace(intent(), options={"headers": {"tenant": header}}))
    assert error in (type(caught.value), type(caught.value.__cause__))
    assert not isinstance(caught.value, BrokerError)
    publisher.publish(fine)
    publisher.close()
    assert received(rabbit_app) == {fine.fire.id}


def test_what_is_refused_before_the_broker_is_asked_costs_no_connection(app: Celery, publisher: Publisher) -> None:
    """Many such fires at once would take longer to connect than a lease lasts."""
    app.conf.task_create_missing_queues = False
    publisher.publish(intent())
    connection = publisher._connection
    assert connection
    with pytest.raises(Exception, match="undefined"):
        publisher.publish(replace(intent(), options={"queue": "undefined"}))
    assert connection.connected


def test_the_broker_that_is_there_is_found_among_several(app: Celery, broker: Broker) -> None:
    url = app.conf.broker_url
    nowhere = f"{url.partition(':')[0]}://127.0.0.1:1//"
    app.conf.broker_url = ";".join([nowhere] * 3 + [url])
    publisher, fire = Publisher(app, "publishing"), intent()
    assert any(published(publisher, fire) for _ in range(2))
    publisher.close()
    app.conf.broker_url = url
    assert received(app) == {fire.fire.id}


def test_a_broken_url_among_several_is_passed_over(app: Celery, broker: Broker) -> None:
    url = app.conf.broker_url
    scheme = url.partition(":")[0]
    if scheme == "sentinel":
        pytest.skip("all of these are one Sentinel's for kombu, which reads them at once")
    app.conf.broker_url = f"{scheme}://127.0.0.1:1//;{scheme}://127.0.0.1:1//;{scheme}://127.0.0.1:port//;{url}"
    publisher, fire = Publisher(app, "publishing"), intent()
    wait_until(lambda: published(publisher, fire), "a publish")
    publisher.close()
    app.conf.broker_url = url
    assert received(app) == {fire.fire.id}


def test_a_worker_is_told_when_no_queue_gets_what_it_sends(rabbit_app: Celery) -> None:
    events = Events(rabbit_app)
    task = rabbit_app.task(base=LeasedTask, name="own", shared=False)(own)
    for send in (lambda: events.dispatch(Slow(0)), task.delay):
        send()
        delete_queue(rabbit_app)
        with pytest.raises(Exception, match="NO_ROUTE"):
            send()
        send()


def test_a_broker_that_stands_still_is_given_up_in_time(
    rabbit_app: Celery, rabbitmq: Callable[[], LocalRabbitMQ], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sending, "CONFIRMATION", 1.0)
    publisher, events = Publisher(rabbit_app, "publishing"), Events(rabbit_app)
    publisher.publish(intent())
    events.dispatch(Slow(0))
    rabbitmq().pause()
    try:
        assert_given_up(BrokerError, lambda: publisher.publish(intent()))
        assert_given_up(OperationalError, lambda: events.dispatch(Slow(0)))
    finally:
        rabbitmq().resume()
        publisher.close()


@pytest.mark.parametrize("url", ["amqp://127.0.0.1:1//", "redis://127.0.0.1:1"])
def test_a_broker_that_is_away_is_not_tried_for_ever(url: str) -> None:
    app = Celery("publishing", broker=url, set_as_current=False)
    app.conf.update(leased_beat_backend="redis://nowhere", task_publish_retry=False)
    task = app.task(base=LeasedTask, name="own", shared=False)(own)
    events = Events(app)
    for send in (lambda: events.dispatch(Slow(0)), task.delay):
        assert_given_up(OperationalError, send)


def own() -> None: ...


def assert_given_up(error: type[Exception], send: Callable[[], object]) -> None:
    began = time.monotonic()
    with pytest.raises(error):
        send()
    seconds = time.monotonic() - began
    print(f"given up after {seconds:.2f} s")
    assert seconds < GIVEN_UP


def intent() -> Intent:
    return Intent(Fire(str(uuid4()), "entry", datetime.now(UTC)), "job:publishing")


def published(publisher: Publisher, intent: Intent) -> bool:
    try:
        publisher.publish(intent)
    except BrokerError:
        return False
    return True


def dispatched(events: Events) -> str:
    try:
        return events.dispatch(Slow(0))
    except Exception:
        return ""


def received(app: Celery) -> set[str]:
    """Empty the queue; return the task ids of its messages."""
    found = set()
    with app.connection_for_read() as connection:
        queue = app.amqp.queues[app.conf.task_default_queue](connection.default_channel)
        while message := queue.get(no_ack=True):
            found.add(message.headers["id"])
    return found


def delete_queue(app: Celery) -> None:
    with app.connection_for_write() as connection:
        app.amqp.queues[app.conf.task_default_queue](connection.default_channel).delete()
