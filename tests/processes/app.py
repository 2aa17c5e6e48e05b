"""The app under test: what a user would write, with a sink behind each handler."""

import os
import signal
import time
from datetime import timedelta
from typing import Any

from celery import Celery

from celery_leased_beat import Envelope, Events, Fire, Schedule
from tests.processes.happenings import Slow, Tick
from tests.processes.options import Options
from tests.processes.sink import Row, Sink

options = Options.read()
sink = Sink(options.sink)

app = Celery(options.app, broker=options.broker)
app.conf.update(
    beat_scheduler="celery_leased_beat.Scheduler",
    task_ignore_result=True,
    worker_prefetch_multiplier=4,
    broker_connection_retry_on_startup=True,
    broker_transport_options={
        "visibility_timeout": options.visibility_timeout,
        # Else kombu looks only every hundred seconds whether that time is over.
        "unacked_restore_interval": 1,
        "unacked_restore_throttle": 1,
    },
)
if options.backend:
    app.conf.update(leased_beat_backend=options.backend, leased_beat_lease_ttl=options.ttl)
app.conf.leased_beat_in_worker = options.in_worker
if options.version:
    app.conf.leased_beat_version = options.version

events = Events(app)
schedule = Schedule(app)


@events.listener(Tick)
def first(tick: Tick, envelope: Envelope) -> None:
    _record("first", tick, envelope)


@events.listener(Tick)
def second(tick: Tick, envelope: Envelope) -> None:
    _record("second", tick, envelope)


@events.listener(Tick)
def third(tick: Tick, envelope: Envelope) -> None:
    _record("third", tick, envelope)


@events.listener(Slow)
def slow(event: Slow, envelope: Envelope) -> None:
    sink.record(Row("slow", "", envelope.id, envelope.occurred_at.isoformat(), done=False))
    if event.gate:
        sink.wait_for(event.gate)
    time.sleep(event.seconds)
    sink.record(Row("slow", "", envelope.id, envelope.occurred_at.isoformat()))


def report(fire: Fire) -> None:
    sink.record(Row("report", fire.entry, fire.id, fire.instant.isoformat(), attempt=fire.attempt))


def _record(handler: str, tick: Tick, envelope: Envelope) -> None:
    sink.record(Row(handler, tick.entry, envelope.id, envelope.occurred_at.isoformat()))


def _refuse_second(name: str, *_: Any, **__: Any) -> None:
    """A router of messages that fails once, and with it the publish to the second of three listeners."""
    if name == "listener:stage.tick:second" and sink.count("refused") == 1:
        if options.fan_out_fault == "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        raise ConnectionError("refused by the test")


if options.fan_out_fault:
    app.conf.task_routes = [_refuse_second]

interval = timedelta(seconds=options.interval)
for name, catch_up in options.entries.items():
    schedule.every(interval, Tick(name), name=name, catch_up=catch_up)
if options.entries:
    schedule.job("report", interval, report, catch_up="all")
