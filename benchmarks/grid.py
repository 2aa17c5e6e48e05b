"""The app of ``benchmarks.takeover``: five entries every second, each with one listener that writes the journal."""

import os
from dataclasses import dataclass
from datetime import timedelta

from celery import Celery
from redis import Redis

from celery_leased_beat import Envelope, Events, Schedule, event
from examples.shop.journal import Journal

app = Celery("grid", broker="redis://localhost:6379/0")
app.conf.update(task_default_queue="grid", task_ignore_result=True)
journal = Journal(Redis.from_url(os.environ.get("SHOP_DATA_URL", "redis://localhost:6379/0"), decode_responses=True))
events = Events(app)
schedule = Schedule(app)


@event("grid.tick")
@dataclass(frozen=True)
class Tick:
    """One second of one entry."""

    number: int


@events.listener(Tick)
def note(event: Tick, envelope: Envelope) -> None:
    journal.write("note", envelope.id, envelope.occurred_at)


for number in range(5):
    schedule.every(timedelta(seconds=1), Tick(number), name=f"tick {number}", catch_up="all")
