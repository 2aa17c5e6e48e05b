"""The sales report, by night and, for whoever cannot wait, every ten seconds."""

from datetime import timedelta
from functools import partial

from celery_leased_beat import Fire, Schedule
from examples.shop.deps import Deps


def sales_report(deps: Deps, fire: Fire) -> None:
    """Any callable is a handler; what it needs beside the fire, ``register`` binds."""
    deps.mail.send(to="owner", subject=f"Sales so far: {deps.sales.total():.2f}")
    deps.journal.write(fire.entry, fire.id, fire.instant)


def register(schedule: Schedule, deps: Deps) -> None:
    handler = partial(sales_report, deps)
    schedule.job("shop.nightly_sales_report", "0 3 * * *", handler, queue="shop.reports", timeout=timedelta(minutes=10))
    schedule.job("shop.sales_report_so_far", "@every 10s", handler, queue="shop.reports", timeout=timedelta(minutes=1))
