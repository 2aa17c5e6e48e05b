"""How our messages leave: the first time, and once more as they are.

A first publish is never retried by the library, which would send one delivery twice: the second try is ours, with a
delivery id of its own. A message that is sent again keeps its delivery id, so that may be tried as often as one likes.
Nothing counts as sent before the broker has it: RabbitMQ is asked to confirm.
"""

import re
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from math import ceil
from typing import Any, TypeVar

from celery import Celery
from celery.app.task import Context
from celery.exceptions import Ignore, Reject
from celery.result import denied_join_result
from kombu.exceptions import OperationalError

from celery_leased_beat.headers import envelope_header
from celery_leased_beat.outages import came_to_the_broker
from celery_leased_beat.tasks.compat import AnyTask

T = TypeVar("T")

#: How long (seconds) one insists on sending a message again. To requeue it is the last resort: where the broker is a
#: Redis that is out of reach, that fails too, and the message comes only after the visibility timeout.
PATIENCE = 20.0
#: The first wait between two tries (seconds); it doubles with each.
FIRST_WAIT = 1.0
#: How long (seconds) RabbitMQ may take to confirm a message; a busy disk takes some hundredths.
CONFIRMATION = 10.0

#: What RabbitMQ's native delayed delivery puts before a routing key: 28 digits.
_DELAY = re.compile(r"^(?:[01]\.){28}")


def send(
    app: Celery, task: str, kwargs: dict[str, Any], *, task_id: str, envelope: str, options: Mapping[str, Any]
) -> None:
    """Enqueue one message on the way of an envelope (its id). Raises what the broker's client raises.

    A pooled connection may have been cut long ago: it is replaced once, at once.
    """
    try:
        _send(app, task, kwargs, task_id, envelope, options)
    except OperationalError:
        _send(app, task, kwargs, task_id, envelope, options)


def _send(
    app: Celery, task: str, kwargs: dict[str, Any], task_id: str, envelope: str, options: Mapping[str, Any]
) -> None:
    headers = {**options.get("headers", {}), **envelope_header(envelope)}
    with denied_join_result(), confirmed(app) as confirmation:  # a result backend would subscribe to the result
        app.send_task(
            task, kwargs=kwargs, task_id=task_id, serializer="json", retry=False, add_to_parent=False,
            **{**options, "headers": headers}, **confirmation,
        )  # fmt: skip


@contextmanager
def confirmed(app: Celery, producer: Any = None) -> Iterator[dict[str, Any]]:
    """Give the message options for publishes that RabbitMQ confirms, and refuses where no queue would get them.

    Else a message may vanish on a connection that just broke, while the one that led to it is acknowledged on another.
    """
    with app.producer_or_acquire(producer) as given:
        given.connection.ensure_connection(max_retries=1, interval_start=0)  # else Celery tries for ever
        channel = given.channel
        if hasattr(channel, "basic_publish_confirm"):
            channel.basic_publish = channel.basic_publish_confirm
        try:
            yield {"producer": given, "mandatory": True, "confirm_timeout": CONFIRMATION}
        except Exception as error:
            if came_to_the_broker(error):
                given.connection.collect()  # without a farewell, which a broker that blocks us would never answer
            raise


def put_off(task: AnyTask, seconds: float, patience: float) -> Ignore | Reject:
    """Send the message that ``task`` is running again as it is, for ``seconds`` (at least one) later.

    Returns what then ends this delivery: it is acknowledged; where no publish succeeded, it is requeued.
    """
    request = task.request
    try:
        again = task.signature_from_request(
            request, countdown=max(1, ceil(seconds)), retries=request.retries, **destination(task.app, request),
        )  # fmt: skip
        insist(again.apply_async, patience)
    except Exception as error:
        return Reject(repr(error), requeue=True)
    return Ignore()


def insist(publish: Callable[[], T], patience: float, failure: type[Exception] = Exception) -> T:
    """Call ``publish`` until it no longer raises ``failure``, for ``patience`` seconds; then raise the last one."""
    deadline, wait = time.monotonic() + patience, FIRST_WAIT
    while True:
        try:
            return publish()
        except failure:
            if time.monotonic() + wait > deadline:
                raise
        time.sleep(wait)
        wait *= 2


def destination(app: Celery, request: Context) -> dict[str, Any]:
    """Return the message options that lead back to the queue from which ``request`` came."""
    return route_back(app, request.delivery_info or {})


def route_back(app: Celery, delivery: Mapping[str, Any]) -> dict[str, Any]:
    """Return the message options that lead back to the queue of a message with this delivery info."""
    exchange, routing_key = delivery.get("exchange") or "", _DELAY.sub("", delivery.get("routing_key") or "")
    if not exchange:
        return {"queue": routing_key} if routing_key else {}
    for queue in app.amqp.queues.values():
        # A delayed message comes through the exchange of the delay, so the key alone has to tell.
        if queue.routing_key == routing_key:
            return {"queue": queue.name}
    return {"exchange": exchange, "routing_key": routing_key}
