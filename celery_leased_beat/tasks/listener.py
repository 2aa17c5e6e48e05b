"""The task ``listener:<event>:<listener>``: reads the event back and calls the handler."""

from collections.abc import Callable, Mapping
from typing import Any

from celery_leased_beat.events import Envelope, Listener, decode
from celery_leased_beat.schedule import takes_context
from celery_leased_beat.tasks.compat import AnyTask


def listener(spec: Listener) -> Callable[..., None]:
    """Return the body of the task of the listener ``spec``. What the handler returns is not kept.

    A payload that does not fit the event's class ends the task with a ``PayloadError``, without retries.
    """
    with_envelope = takes_context(spec.handler, Envelope, 1)

    def run(task: AnyTask, envelope: Mapping[str, Any]) -> None:
        received = Envelope.from_message(envelope)
        event = decode(spec.event, received.payload)
        if with_envelope:
            spec.handler(event, received)
        else:
            spec.handler(event)

    return run
