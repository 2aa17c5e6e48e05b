"""Run in the project: prints as JSON which scheduler beat would take, what fires in a week, and the message of each.

Without the setting that is all Celery's own: its scheduler, its arithmetic with a clock of ours, its ``apply_async``.
With it, the fires are those of a rehearsal, and the messages those of our publisher.
"""

import json
import os
import sys
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

import django
import redis
from celery import Celery
from celery.apps.beat import Beat

from celery_leased_beat.engine import Intent
from celery_leased_beat.fires import Fire, fire_id
from celery_leased_beat.publisher import Publisher
from celery_leased_beat.testing import Rehearsal
from tests.core.plain_beat import PlainBeat

#: When each message is sent, so that what is counted from then can be compared.
SENT_AT = datetime(2026, 6, 1, 12, tzinfo=UTC)

Fires = Mapping[str, list[datetime]]
Send = Callable[[str], object]


def of_plain_beat(app: Celery, begin: datetime, end: datetime) -> tuple[Fires, Send]:
    beat = PlainBeat(app, begin)
    fires = {name: beat.sent.get(name, []) for name in beat.schedule} | dict(beat.run(end))
    beat.time = SENT_AT

    def send(name: str) -> object:
        return super(PlainBeat, beat).apply_async(beat.schedule[name], advance=False)

    return fires, send


def of_ours(app: Celery, begin: datetime, end: datetime) -> tuple[Fires, Send]:
    rehearsal = Rehearsal(app, first_seen=begin)
    fires = {
        name: [fire.instant for fire in found if fire.instant > begin]
        for name, found in rehearsal.fires(begin, end).items()
    }
    app.now = lambda: SENT_AT.astimezone(app.timezone)
    publisher = Publisher(app, "old_shop")

    def send(name: str) -> None:
        entry = rehearsal.entries[name]
        fire = Fire(fire_id("old_shop", name, SENT_AT), name, SENT_AT)
        publisher.publish(Intent(fire, entry.task, *entry.arguments(), options=entry.options))

    return fires, send


def message(name: str, send: Send) -> dict[str, Any]:
    """The one message that is in the broker after ``send``, with the queue where it lies."""
    with redis.Redis.from_url(os.environ["BROKER_URL"], decode_responses=True) as broker:
        broker.flushdb()
        send(name)
        (queue,) = [key for key in broker.scan_iter() if broker.type(key) == "list"]
        (text,) = broker.lrange(queue, 0, -1)
    return {"queue": queue, **json.loads(text)}


def main(begin: str, end: str) -> None:
    django.setup()
    from old_shop.celery import app

    app.loader.import_default_modules()
    beat = Beat(app=app)
    scheduler = type(beat.Service(app=app, scheduler_cls=beat.scheduler_cls).get_scheduler(lazy=True)).__module__
    since, until = (datetime.fromisoformat(text) for text in (begin, end))
    fires, send = (of_plain_beat if scheduler == "celery.beat" else of_ours)(app, since, until)
    print(json.dumps({
        "scheduler": scheduler,
        "fires": {name: [instant.isoformat() for instant in instants] for name, instants in fires.items()},
        "messages": {name: message(name, send) for name in fires},
    }))  # fmt: skip


if __name__ == "__main__":
    main(*sys.argv[1:])
