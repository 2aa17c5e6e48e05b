"""Where handlers run: in this process, one after the other, each as it would run on a worker."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import cast
from uuid import uuid4

from celery_leased_beat.binding import registry
from celery_leased_beat.binding.events import listeners_of
from celery_leased_beat.engine import Intent
from celery_leased_beat.events import Envelope, Listener
from celery_leased_beat.fires import Fire, listener_id
from celery_leased_beat.headers import envelope_header, fire_header
from celery_leased_beat.schedule import Entry, EventTarget, JobTarget, is_celery_task
from celery_leased_beat.tasks import warn_of_silence
from celery_leased_beat.tasks.compat import AnyTask
from celery_leased_beat.testing.deliveries import Deliveries
from celery_leased_beat.testing.running import Queue, raise_all, run_in_place
from celery_leased_beat.testing.subject import Subject

#: The term of made-up fires.
TERM = 1


class Stage:
    """Runs entries and delivers events of one app. Methods return what the handlers raised."""

    def __init__(self, subject: Subject, deliveries: Deliveries) -> None:
        self._app = subject.app
        self._namespace = subject.settings.namespace
        self._deliveries = deliveries
        self._queue = Queue()
        self._now: datetime | None = None

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Take what is dispatched at runtime, instead of the broker."""
        before = registry.outlets.get(self._app)
        registry.outlets[self._app] = self._take
        try:
            yield
        finally:
            registry.outlets.pop(self._app, None)
            if before is not None:
                registry.outlets[self._app] = before

    def fire(self, entry: Entry, fire: Fire) -> list[Exception]:
        """Run what a fire of ``entry`` enqueues, and all that follows from it."""
        if isinstance(entry.target, EventTarget):
            metadata = {"entry": fire.entry, "fire": fire.id, "term": TERM}
            payload = dict(entry.kwargs["payload"])
            return self.deliver(Envelope(fire.id, entry.target.name, payload, fire.instant, metadata))
        self._queue.put(partial(self._run_task, entry, fire))
        return self._run(fire.instant)

    def deliver(self, envelope: Envelope) -> list[Exception]:
        """Run the listeners of an event, and all that follows from it."""
        self._put(envelope)
        return self._run(envelope.occurred_at)

    def _take(self, envelope: Envelope) -> None:
        """What a handler dispatches occurs at the time that was made up for it."""
        raise_all(self.deliver(replace(envelope, occurred_at=self._now or envelope.occurred_at)))

    def _put(self, envelope: Envelope) -> None:
        listeners = listeners_of(self._app, envelope.name)
        if not listeners:
            warn_of_silence(envelope.name)
        for listener in listeners:
            self._queue.put(partial(self._run_listener, listener, envelope))

    def _run(self, instant: datetime) -> list[Exception]:
        before, self._now = self._now, instant
        try:
            return self._queue.run()
        finally:
            self._now = before

    def _run_task(self, entry: Entry, fire: Fire) -> None:
        args, kwargs = entry.arguments()
        intent = Intent(fire, entry.task, args, kwargs, term=TERM)
        headers = fire_header(intent, self._namespace, delivery=str(uuid4()))
        run_in_place(
            self._task(entry), args, kwargs, task_id=fire.id, headers={**entry.options.get("headers", {}), **headers}
        )

    def _run_listener(self, listener: Listener, envelope: Envelope) -> None:
        self._deliveries.record(listener, envelope)
        run_in_place(
            self._app.tasks[listener.task], (), {"envelope": envelope.to_message()},
            task_id=listener_id(envelope.id, listener.name), headers=envelope_header(envelope.id),
        )  # fmt: skip

    def _task(self, entry: Entry) -> AnyTask:
        target = entry.target
        if isinstance(target, JobTarget) and is_celery_task(target.handler):
            task: AnyTask | None = cast(AnyTask, target.handler)
        else:
            task = self._app.tasks.get(entry.task)
        if task is None:
            raise LookupError(f"the app has no task {entry.task}, nor would a worker know it; is its module included?")
        return task
