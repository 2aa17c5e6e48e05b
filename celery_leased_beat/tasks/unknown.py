"""A message of ours whose task no code here knows, as a deploy brings it: beats and other workers may be ahead.

Celery drops it. And it would not help to send it again with a countdown: it is the task that waits for one, and here is
none. So it is wrapped in a task that each worker with this package has, which waits and sends it again, until a worker
takes it that knows its task, or until a marker's life is over.
"""

import logging
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from celery.app.amqp import task_message
from celery.exceptions import Reject
from kombu.exceptions import OperationalError

from celery_leased_beat.errors import SettingsError
from celery_leased_beat.events import is_our_task
from celery_leased_beat.headers import HEADER
from celery_leased_beat.settings import MARKER_TTL
from celery_leased_beat.tasks.clock import now
from celery_leased_beat.tasks.compat import AnyTask
from celery_leased_beat.tasks.configuration import settings_for, visibility_timeout
from celery_leased_beat.tasks.sending import PATIENCE, confirmed, insist, route_back

logger = logging.getLogger(__name__)

PUT_OFF = "leased_beat.put_off"

#: The first wait, the share of its age that a message waits later, and the longest wait.
FIRST_WAIT, SHARE, LONGEST_WAIT = timedelta(seconds=5), 0.1, timedelta(minutes=5)
#: The share of the visibility timeout that a message may wait: one that waits for longer is delivered a second time
#: while it waits, both are sent again, and so their number grows without end.
VISIBLE_SHARE = 1 / 3
#: Seconds until the next try of a broker that refused.
PAUSE = 5


class PutOffTask(AnyTask):
    """The class of the task that waits."""

    abstract = True
    acks_late = True
    reject_on_worker_lost = True
    ignore_result = True
    serializer = "json"


def send_again(task: AnyTask, message: Mapping[str, Any]) -> None:
    """The body of the task that waits: send the wrapped message to where it came from."""
    app, headers = task.app, message["headers"]

    def publish() -> None:
        content = task_message(headers, message["properties"], tuple(message["body"]), None)
        with confirmed(app) as confirmation:
            app.amqp.send_task_message(
                name=headers["task"], message=content, serializer="json", **message["route"], **confirmation
            )

    try:
        insist(publish, PATIENCE)
    except Exception as error:
        raise Reject(repr(error), requeue=True) from error


def put_off_unknown(sender: Any, message: Any, name: str, **_: Any) -> None:
    """Take up a message that Celery has just dropped (the signal ``task_unknown``), if it is one of ours."""
    headers = {key: value for key, value in message.headers.items() if key != "compression"}
    ours = headers.get(HEADER)
    if not isinstance(ours, Mapping) and not is_our_task(name):
        return
    header = dict(ours or {})
    first = header.setdefault("unknown", now().isoformat())
    age = now() - datetime.fromisoformat(first)
    if age > _patience(sender.app):
        logger.error("no worker knows the task %s, its message %s is dropped", name, headers.get("id"))
        return
    logger.warning("no task %s here, its message %s is put off: a worker that knows it may come", name, headers["id"])
    wrapped = {
        "body": message.payload,
        "headers": {**headers, HEADER: header, "eta": None},
        "properties": _properties(message.properties or {}),
        "route": route_back(sender.app, message.delivery_info or {}),
    }
    _publish(sender, wrapped, _wait(sender.app, age))


def _wait(app: Any, age: timedelta) -> timedelta:
    return min(max(FIRST_WAIT, age * SHARE), LONGEST_WAIT, visibility_timeout(app) * VISIBLE_SHARE)


def _publish(consumer: Any, wrapped: dict[str, Any], wait: timedelta) -> None:
    try:
        with confirmed(consumer.app) as confirmation:
            consumer.app.send_task(
                PUT_OFF, kwargs={"message": wrapped}, countdown=round(wait.total_seconds()), serializer="json",
                ignore_result=True, **wrapped["route"], **confirmation,
            )  # fmt: skip
    except (OperationalError, OSError):
        logger.warning("message %s cannot be put off yet, the broker is out of reach", wrapped["headers"]["id"])
        consumer.timer.call_after(PAUSE, _publish, (consumer, wrapped, wait))


def _properties(properties: Mapping[str, Any]) -> dict[str, Any]:
    kept = ("correlation_id", "reply_to", "priority")
    return {name: properties[name] for name in kept if properties.get(name) is not None}


def _patience(app: Any) -> timedelta:
    try:
        return settings_for(app).marker_ttl
    except SettingsError:
        return MARKER_TTL
