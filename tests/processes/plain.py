"""An app as it was before this package: plain tasks and a ``beat_schedule``. One setting switches it, if it is given.

The task ``elsewhere`` is known to its workers alone.
"""

import os
from datetime import timedelta
from typing import Any

from celery import Celery
from celery.beat import BeatLazyFunc
from celery.schedules import crontab

from celery_leased_beat import LeasedTask, current_fire
from tests.processes.options import Options
from tests.processes.sink import Row, Sink

options = Options.read()
sink = Sink(options.sink)

app = Celery(options.app, broker=options.broker)
app.conf.update(
    task_ignore_result=True,
    broker_connection_retry_on_startup=True,
    leased_beat_backend=options.backend,
    leased_beat_lease_ttl=options.ttl,
    task_routes={"elsewhere": {"queue": "celery"}},
)
if "PLAIN_SCHEDULER" in os.environ:
    app.conf.beat_scheduler = os.environ["PLAIN_SCHEDULER"]


def record(handler: str) -> None:
    fire = current_fire()
    if fire is not None:
        sink.record(Row(handler, fire.entry, fire.id, fire.instant.isoformat(), attempt=fire.attempt))


@app.task(name="note")
def note(handler: str, number: int) -> None:
    record(handler)


@app.task(name="once", base=LeasedTask, bind=True, autoretry_for=(ConnectionError,), default_retry_delay=0)
def once(self: Any) -> None:
    record("once")
    if self.request.retries == 0:
        raise ConnectionError("the first time")


if "PLAIN_WORKER" in os.environ:

    @app.task(name="elsewhere")
    def elsewhere() -> None:
        record("elsewhere")


app.conf.beat_schedule = {
    "seconds": {"task": "note", "schedule": 1.0, "args": ("note", BeatLazyFunc(os.getpid))},
    "leased": {"task": "once", "schedule": timedelta(seconds=2)},
    "elsewhere": {"task": "elsewhere", "schedule": 2, "options": {"expires": 60}},
    "nightly": {"task": "note", "schedule": crontab(0, 3), "args": ("nightly", 0)},
    "broken": {"task": "note", "schedule": None},
}


@app.on_after_finalize.connect
def add(sender: Celery, **_: Any) -> None:
    sender.add_periodic_task(2, note.s("added", 1), name="added")
