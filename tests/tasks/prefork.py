"""An app for a worker with child processes; each run of a handler is a row in its broker: name, attempt, what."""

import os
import signal
import time
from datetime import timedelta

import redis
from celery import Celery

from celery_leased_beat import Fire, Schedule

URL = os.environ["PREFORK_URL"]

app = Celery("prefork", broker=URL)
app.conf.broker_connection_retry_on_startup = True
app.conf.leased_beat_backend = os.environ.get("PREFORK_LEASE", URL)
schedule = Schedule(app)


def note(fire: Fire, what: str) -> None:
    with redis.Redis.from_url(URL) as client:
        client.rpush("runs", f"{fire.entry} {fire.attempt} {what}")


@schedule.job("kills", "@daily")
def kills(fire: Fire) -> None:
    """Kill the process that runs it; the second time, end well."""
    note(fire, "began")
    with redis.Redis.from_url(URL) as client:
        if client.incr("kills") == 1:
            os.kill(os.getpid(), signal.SIGKILL)
    note(fire, "ended")


@schedule.job("deadly", "@daily")
def deadly(fire: Fire) -> None:
    """Kill the process that runs it, each time."""
    note(fire, "began")
    os.kill(os.getpid(), signal.SIGKILL)


@schedule.job("slow", "@daily", timeout=timedelta(seconds=1))
def slow(fire: Fire) -> None:
    """Run beyond the soft limit, the first time."""
    note(fire, "began")
    if fire.attempt == 1:
        time.sleep(30)
    note(fire, "ended")


@schedule.job("hurried", "@daily", time_limit=timedelta(seconds=8))
def hurried(fire: Fire) -> None:
    """Run under a hard limit that is not much longer than one wait for the lease's server."""
    note(fire, "began")


@schedule.job("cut", "@daily")
def cut(fire: Fire) -> None:
    """Run for longer than a hold would last that is not renewed."""
    note(fire, "began")
    time.sleep(17)
    note(fire, "ended")
