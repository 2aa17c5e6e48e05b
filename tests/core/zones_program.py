"""A program: an app in Django's frame, in each zone, with and without ``enable_utc``, told as JSON.

The environment says the host's zone (``TZ``) and Django's settings. A cell has what fires in ten minutes and in a year,
and what a message says of the time at which it ends and at which it begins.
"""

import json
from datetime import UTC, datetime, timedelta
from typing import Any

from celery import Celery
from celery.schedules import crontab

from celery_leased_beat import Schedule
from celery_leased_beat.engine import Intent
from celery_leased_beat.fires import Fire
from celery_leased_beat.publisher import Publisher
from celery_leased_beat.testing import Rehearsal

ZONES = ("UTC", "America/New_York", "Asia/Shanghai", "Europe/London")
YEAR = ("2026-01-01T00:00Z", "2027-01-01T00:00Z")
TEN_MINUTES = ("2026-10-25T00:00Z", "2026-10-25T00:10:30Z")
SECONDS = {"expires": 600, "countdown": 300}


def cell(zone: str, *, enable_utc: bool) -> dict[str, Any]:
    grid = an_app(zone, enable_utc, {"plain": {"task": "a.task", "schedule": 60}})
    Schedule(grid).job("ours", "@every 1m", print)
    daily = an_app(zone, enable_utc, {"plain": {"task": "a.task", "schedule": crontab(minute="0", hour="9")}})
    schedule = Schedule(daily).job("ours", "0 9 * * *", print)
    schedule.job("elsewhere", "0 9 * * *", print, timezone="Asia/Tokyo")
    return {
        "grid": {name: len(fires) for name, fires in Rehearsal(grid).fires(*TEN_MINUTES).items()},
        "daily": {
            name: [fire.instant.isoformat() for fire in fires] for name, fires in Rehearsal(daily).fires(*YEAR).items()
        },
        "message": message(grid),
    }


def an_app(zone: str, enable_utc: bool, beat_schedule: dict[str, Any]) -> Celery:
    app = Celery("shop", broker="memory://", set_as_current=False)
    app.config_from_object("django.conf:settings", namespace="CELERY")
    app.conf.update(timezone=zone, enable_utc=enable_utc, leased_beat_backend="redis://no-server.invalid")
    app.conf.update(result_expires=None, beat_schedule=beat_schedule)
    return app


def message(app: Celery) -> dict[str, float]:
    """In how many seconds, from now, the message of a fire begins and ends."""
    now = datetime.now(UTC).replace(microsecond=0)
    publisher = Publisher(app, "shop")
    publisher.publish(Intent(Fire("an-id", "entry", now), "a.task", options=SECONDS, term=1))
    with app.connection_for_read() as connection:
        found = connection.SimpleQueue("celery").get(timeout=10)
    publisher.close()
    times = {"expires": found.headers["expires"], "countdown": found.headers["eta"]}
    return {option: (datetime.fromisoformat(text) - now) / timedelta(seconds=1) for option, text in times.items()}


if __name__ == "__main__":
    cells = [(zone, enable_utc) for zone in ZONES for enable_utc in (True, False)]
    print(json.dumps([[zone, enable_utc, cell(zone, enable_utc=enable_utc)] for zone, enable_utc in cells]))
