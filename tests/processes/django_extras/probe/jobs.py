"""A schedule that reads the database: so a worker's main process has a connection before it forks.

Each use of a connection is a line of ``connections.txt``: who used it, and who opened it.
"""

import os
from pathlib import Path
from typing import Any

from django.db import connections
from django.db.backends.signals import connection_created

from catalogue.models import Sync
from celery_leased_beat import Schedule

NOTES = Path("connections.txt")


def opened(connection: Any, **_: Any) -> None:
    connection.opened_by = os.getpid()


def look() -> None:
    Sync.objects.count()
    with NOTES.open("a") as notes:
        notes.write(f"{os.getpid()} {connections['default'].opened_by}\n")


def register(schedule: Schedule) -> None:
    connection_created.connect(opened)
    look()
    schedule.job("probe.look", "@every 500ms", look)
