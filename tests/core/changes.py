"""One change of a module by each of the generators, for tests of what holds of all of them."""

from collections.abc import Callable

from celery_leased_beat.generate import Import, When
from celery_leased_beat.generate.events import add_event
from celery_leased_beat.generate.jobs import add_event_entry, add_inclusion, add_job
from celery_leased_beat.generate.listeners import add_listener
from celery_leased_beat.generate.source import Module

DAILY = When("cron", "0 3 * * *")
EVENT = Import("shop.events", "TillClosed")
EVENTS = Import("proj.celery", "events")

#: A change of a module's source.
Change = Callable[[Module], Module]

CHANGES: dict[str, Change] = {
    "job": lambda module: add_job(module, "shop.nightly_sales_report", "nightly_sales_report", DAILY),
    "entry": lambda module: add_event_entry(module, EVENT, When("daily_at", "06:30")),
    "inclusion": lambda module: add_inclusion(module, "reports"),
    "event": lambda module: add_event(module, "shop.order_placed", "OrderPlaced"),
    "listener": lambda module: add_listener(module, EVENT, EVENTS, "book_turnover"),
}


def read(text: str) -> Module:
    """The module ``shop.jobs`` with this text."""
    return Module("shop.jobs", "shop/jobs.py", text, first_party=frozenset({"shop", "proj"}))
