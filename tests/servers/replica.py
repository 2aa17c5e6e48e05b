"""A replica of an app with one job, in the process of the test."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from celery import Celery

from celery_leased_beat import Schedule
from celery_leased_beat.runner import Runner


@contextmanager
def serving(namespace: str, url: str, options: dict[str, Any]) -> Iterator[Runner]:
    """Give the replica after its first turn; ``options`` are those of the transport to its lease."""
    app = Celery(namespace, broker="memory://", set_as_current=False)
    app.conf.update(leased_beat_backend=url, leased_beat_transport_options=options, leased_beat_lease_ttl=3)
    Schedule(app).job("job", "@hourly", print)
    runner = Runner(app)
    runner.turn(0.1)
    try:
        yield runner
    finally:
        runner.stop()
        runner.close()
