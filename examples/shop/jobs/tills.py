"""The turnover of the tills."""

from datetime import timedelta

from celery_leased_beat import Schedule
from examples.shop.events import TillClosed


def register(schedule: Schedule) -> None:
    """Every second has to be booked, so those that were missed are made up for: ``catch_up="all"``.

    Two entries of one event need names of their own.
    """
    for till in ("front", "back"):
        schedule.every(timedelta(seconds=1), TillClosed(till), name=f"till {till}", catch_up="all")
