"""The tasks ``schedule:<event>`` and ``event:<event>``: one envelope becomes one message per listener.

The first attempt fixes the list of listeners in the record, with all that a message to each needs. Then, one by one, a
message is published and that is recorded; one that is refused does not keep the others waiting. A retry sends the rest
of the recorded list, whatever its own code says. A message that was published and not recorded is published again under
the same task id: the listener's marker drops it.
"""

import logging
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any

from celery import Celery
from celery.app.task import Context
from celery.exceptions import SoftTimeLimitExceeded

from celery_leased_beat.errors import StoreError
from celery_leased_beat.events import Envelope, Listener, listener_task
from celery_leased_beat.fires import listener_id
from celery_leased_beat.headers import envelope_header, origin_of
from celery_leased_beat.outages import is_outage
from celery_leased_beat.store import Fanouts
from celery_leased_beat.tasks.clock import now
from celery_leased_beat.tasks.compat import AnyTask
from celery_leased_beat.tasks.records import records_for
from celery_leased_beat.tasks.sending import send

logger = logging.getLogger(__name__)

#: Tells who listens to the event of that name in an app.
ListenersOf = Callable[[Celery, str], Sequence[Listener]]

#: The events of which that was said.
_said: dict[str, object] = {}


def fanout(event: str, listeners_of: ListenersOf) -> Callable[..., None]:
    """Return the body of the tasks that fan out ``event``.

    ``occurred_at`` (ISO 8601) is in the message of an event that was dispatched at runtime; a scheduled one occurred at
    its instant.
    """

    def run(task: AnyTask, payload: dict[str, Any], occurred_at: str | None = None) -> None:
        envelope = _envelope(task.request, event, payload, occurred_at)
        listeners = listeners_of(task.app, event)
        if not listeners:
            warn_of_silence(event)
        if task.request.is_eager:
            _hand_over(task.app, envelope, listeners)
        else:
            _send_all(task.app, envelope, listeners)

    return run


def warn_of_silence(event: str) -> None:
    """Say once that nobody listens to ``event``."""
    ours = object()
    if _said.setdefault(event, ours) is ours:  # one step, for all threads
        logger.warning("nobody listens to the event %s: it is dispatched to no one", event)


def _envelope(request: Context, event: str, payload: dict[str, Any], occurred_at: str | None) -> Envelope:
    origin = origin_of(request)
    metadata = {"entry": origin.entry, "fire": origin.fire, "term": origin.term}
    return Envelope(
        id=str(request.id),
        name=event,
        payload=payload,
        occurred_at=datetime.fromisoformat(occurred_at) if occurred_at else origin.instant or now(),
        metadata={name: value for name, value in metadata.items() if value is not None},
    )


def _send_all(app: Celery, envelope: Envelope, listeners: Sequence[Listener]) -> None:
    records = records_for(app).fanouts
    recorded = records.begin(envelope.id, {listener.name: listener.message_options for listener in listeners})
    recording, refused = True, None
    for name, options in recorded.rest.items():
        try:
            _send(app, envelope, name, options)
        except Exception as error:
            if isinstance(error, SoftTimeLimitExceeded) or is_outage(error, app.connection_for_write()):
                raise  # the others would meet it too
            logger.warning("the listener %s of the envelope %s cannot be sent to: %r", name, envelope.id, error)
            refused = refused or error
        else:
            recording = recording and _note_sent(records, envelope.id, name)
    if refused is not None:
        raise refused


def _note_sent(records: Fanouts, envelope: str, listener: str) -> bool:
    """Record that a message was published; return whether the server answered.

    A server that is gone does not end the fan-out: a trigger that came again would send to all once more, and where the
    server has lost its data no marker would drop the second message.
    """
    try:
        records.sent(envelope, listener)
    except StoreError as error:
        logger.warning("what was sent of the envelope %s could not be recorded: %s", envelope, error)
        return False
    return True


def _send(app: Celery, envelope: Envelope, listener: str, options: Mapping[str, Any]) -> None:
    send(
        app, listener_task(envelope.name, listener), {"envelope": envelope.to_message()},
        task_id=listener_id(envelope.id, listener), envelope=envelope.id, options=options,
    )  # fmt: skip


def _hand_over(app: Celery, envelope: Envelope, listeners: Sequence[Listener]) -> None:
    """Run the listeners in place, as ``task_always_eager`` wants it."""
    for listener in listeners:
        app.tasks[listener.task].apply(
            kwargs={"envelope": envelope.to_message()},
            task_id=listener_id(envelope.id, listener.name),
            headers=envelope_header(envelope.id),
        )
