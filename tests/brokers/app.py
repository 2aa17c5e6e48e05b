"""The app under test: events, a listener that fails at first, a job that is delayed, and three ways to catch up."""

import json
import os
import time
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from celery import Celery, signals

from celery_leased_beat import Envelope, Events, Fire, Schedule, event
from tests.brokers.entries import DELAY, ENTRIES, INTERVAL, NAME
from tests.processes.happenings import Slow, Tick
from tests.processes.sink import Row, Sink

sink = Sink(os.environ["SINK"])

app = Celery(NAME)
app.conf.update(
    beat_scheduler="celery_leased_beat.Scheduler",
    broker_connection_retry_on_startup=True,
    worker_prefetch_multiplier=4,
    **json.loads(os.environ["CONF"]),
)
events = Events(app)
schedule = Schedule(app)


@event("brokers.flaky")
@dataclass(frozen=True)
class Flaky:
    """Its listener fails at the first attempt."""


@events.listener(Tick)
def first(tick: Tick, envelope: Envelope) -> None:
    _record("first", tick.entry, envelope)


@events.listener(Tick)
def second(tick: Tick, envelope: Envelope) -> None:
    _record("second", tick.entry, envelope)


@events.listener(Tick)
def third(tick: Tick, envelope: Envelope) -> None:
    _record("third", tick.entry, envelope)


@events.listener(Flaky)
def flaky(event: Flaky, envelope: Envelope) -> None:
    if sink.count(envelope.id) == 1:
        raise ConnectionError("the first attempt")
    _record("flaky", "flaky", envelope)


@events.listener(Slow)
def slow(event: Slow, envelope: Envelope) -> None:
    time.sleep(event.seconds)
    _record("slow", "", envelope)


def report(fire: Fire) -> None:
    sink.record(Row("report", fire.entry, fire.id, fire.instant.isoformat()))


def delayed(fire: Fire) -> None:
    sink.record(Row("delayed", fire.entry, fire.id, fire.instant.isoformat()))


def _record(handler: str, entry: str, envelope: Envelope) -> None:
    sink.record(Row(handler, entry, envelope.id, envelope.occurred_at.isoformat()))


@signals.task_prerun.connect
def _count_starts(task_id: str, **_: Any) -> None:
    sink.count(f"starts:{task_id}")


interval = timedelta(seconds=INTERVAL)
for name, catch_up in ENTRIES.items():
    schedule.every(interval, Tick(name), name=name, catch_up=catch_up)
schedule.every(interval, Flaky(), name="flaky", catch_up="all")
schedule.job("report", interval, report, catch_up="all")
schedule.job("delayed", interval, delayed, catch_up="all", countdown=DELAY)
