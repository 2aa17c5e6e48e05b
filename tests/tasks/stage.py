"""An app with events and a schedule, whose worker runs in threads of the test's own process."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any
from uuid import uuid4

import redis
from celery import Celery
from celery.contrib.testing.worker import start_worker
from kombu.asynchronous import set_event_loop
from kombu.exceptions import OperationalError

from celery_leased_beat import Events, Schedule, event, store
from tests.nodes.waiting import wait_until

QUEUE = "celery"
#: The task of the job that most tests have.
REPORT = "job:shop.report"


@event("shop.digest_due")
@dataclass(frozen=True)
class DigestDue:
    audience: str = "all"


@dataclass
class Stage:
    """One app with its broker and its lease's server, both the Valkey at ``url`` unless told otherwise."""

    url: str
    namespace: str
    backend: str = ""
    settings: dict[str, Any] = field(default_factory=dict)
    task_class: type | str | None = None

    def __post_init__(self) -> None:
        self.app = Celery(self.namespace, broker=self.url, task_cls=self.task_class, set_as_current=False)
        self.app.conf.update(
            leased_beat_backend=self.backend or self.url, broker_connection_retry_on_startup=True,
            worker_hijack_root_logger=False, **self.settings,
        )  # fmt: skip
        self.events = Events(self.app)
        self.schedule = Schedule(self.app)
        self.client = redis.Redis.from_url(self.url, decode_responses=True)
        self.keys = store.Keys(self.namespace)

    def markers(self, hold: timedelta = timedelta(seconds=15)) -> store.Markers:
        """The markers as a run elsewhere would write them."""
        backend = redis.Redis.from_url(self.backend or self.url, decode_responses=True)
        return store.Markers(backend, self.keys, hold=hold)

    def marker(self, task_id: str) -> dict[str, str]:
        with redis.Redis.from_url(self.backend or self.url, decode_responses=True) as backend:
            return dict(backend.hgetall(self.keys.marker(task_id)))

    def is_done(self, task_id: str) -> bool:
        return self.marker(task_id).get("state") == "done"

    @contextmanager
    def worker(self, concurrency: int = 4) -> Iterator[Any]:
        set_event_loop(None)  # Celery 5.5 would go on with the loop of the last worker, and without its own timer
        with start_worker(
            self.app, pool="threads", concurrency=concurrency, perform_ping_check=False, loglevel="INFO",
            shutdown_timeout=30.0,
        ) as worker:  # fmt: skip
            yield worker

    def send(
        self,
        task: str,
        *,
        delivery: str | None = None,
        task_id: str | None = None,
        entry: str = "entry",
        **options: Any,
    ) -> str:
        """Send one message as the publisher does; without a ``delivery`` it has one of its own."""
        task_id = task_id or str(uuid4())
        header = {
            "delivery": delivery or str(uuid4()), "fire": task_id, "entry": entry, "term": 7,
            "instant": "2026-03-01T06:30:00+00:00", "namespace": self.namespace,
        }  # fmt: skip
        self.app.send_task(task, task_id=task_id, headers={"leased_beat": header}, serializer="json", **options)
        return task_id

    def messages(self, queue: str = QUEUE) -> list[dict[str, Any]]:
        """The messages that wait in a queue of the broker."""
        return [json.loads(text) for text in self.client.lrange(queue, 0, -1)]

    def unacknowledged(self) -> list[dict[str, Any]]:
        """The messages that a worker has not acknowledged: those that run, and those that wait for their time."""
        return [json.loads(text)[0] for text in self.client.hvals("unacked")]

    def wait_idle(self) -> None:
        """Wait until the broker holds nothing any more.

        A message that a worker takes is nowhere for a moment, so that counts only when it is seen again and again.
        """
        seen = [0]

        def is_idle() -> bool:
            seen[0] = 0 if self.messages() or self.unacknowledged() else seen[0] + 1
            return seen[0] > 3

        wait_until(is_idle, "all messages are acknowledged")

    def refuse(self, task: str, times: int) -> Callable[[], int]:
        """Let the next publishes of ``task`` fail as a broker's refusal does; tell how often one was tried."""
        send, tried = self.app.amqp.send_task_message, [0]

        def send_or_fail(producer: Any, name: str, *arguments: Any, **options: Any) -> Any:
            if name == task:
                tried[0] += 1
                if tried[0] <= times:
                    raise OperationalError("refused")
            return send(producer, name, *arguments, **options)

        self.app.amqp.send_task_message = send_or_fail
        return lambda: tried[0]


class Body:
    """The handler of the job ``shop.report``, which takes until it is told to end."""

    def __init__(self, stage: Stage) -> None:
        self.go_on = threading.Event()
        self.begun: list[int] = []
        self.ended: list[int] = []
        stage.schedule.job("shop.report", "@daily", self)

    def __call__(self) -> None:
        self.begun.append(1)
        self.go_on.wait(60)
        self.ended.append(1)

    def wait_begun(self, times: int = 1) -> None:
        wait_until(lambda: len(self.begun) == times, f"the body has begun {times} times")
