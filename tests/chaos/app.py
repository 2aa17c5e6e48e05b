"""The app under test: its handlers note what they do. The workers know both versions: they come first in a deploy."""

import gc
import signal
import time
from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta
from typing import Any

import redis
from celery import Celery, current_task
from celery.signals import task_postrun
from celery.states import SUCCESS

from celery_leased_beat import Envelope, Events, Fire, Schedule
from celery_leased_beat.store import Keys
from tests.chaos.notes import Note, Notebook, What
from tests.chaos.programme import LISTENERS, Struck, compose
from tests.chaos.setting import HANG, Setting

setting = Setting.read()
notebook = Notebook(setting.sink)
markers = redis.Redis.from_url(setting.lease, socket_timeout=0.5, socket_connect_timeout=0.5, decode_responses=True)

app = Celery(setting.namespace, broker=setting.broker)
app.conf.update(
    beat_scheduler="celery_leased_beat.Scheduler",
    task_ignore_result=True,
    worker_prefetch_multiplier=2,
    broker_connection_retry_on_startup=True,
    broker_connection_max_retries=None,
    broker_transport_options=setting.transport_options(),
    leased_beat_backend=setting.lease,
    leased_beat_lease_ttl=setting.ttl,
    leased_beat_in_worker=setting.in_worker,
)
events = Events(app)
schedule = Schedule(app)


def listener(name: str) -> Callable[[Struck, Envelope], None]:
    def listen(struck: Struck, envelope: Envelope) -> None:
        run(name, struck.entry, envelope.id, envelope.occurred_at.isoformat())

    return listen


def work(takes: timedelta) -> Callable[[Fire], None]:
    def job(fire: Fire) -> None:
        run("job", fire.entry, fire.id, fire.instant.isoformat(), takes.total_seconds())

    return job


def run(handler: str, entry: str, fire: str, instant: str, takes: float = 0.0) -> None:
    task = current_task.request.id
    notebook.write(Note(What.BEGUN, task, handler, entry, fire, instant))
    time.sleep(takes)
    notebook.write(Note(What.ENDED, task, handler, entry, fire, instant))


@task_postrun.connect
def tidy(state: str | None, **_: Any) -> None:
    """Collect what an exception leaves, so that a leak can be told from it.

    Billiard keeps the position tables of all its frames, 0.7 MB, and Python collects some fifty of them at a time.
    """
    if state != SUCCESS:
        gc.collect()


@task_postrun.connect
def note_the_end(task_id: str, task: Any, **_: Any) -> None:
    """Note that the marker says ``done``: from then on no second run may complete."""
    if task.name.startswith(("job:", "listener:")):
        with suppress(redis.RedisError):
            if markers.hget(Keys(setting.namespace).marker(task_id), "state") == "done":
                notebook.write(Note(What.OVER, task_id))


def hang(*_: Any) -> None:
    """Keep the main thread of a beat from its work, and no other thread."""
    time.sleep(HANG)


signal.signal(signal.SIGUSR2, hang)

for name in LISTENERS:
    events.listener(Struck, name=name)(listener(name))
compose(schedule, setting.version, work)
