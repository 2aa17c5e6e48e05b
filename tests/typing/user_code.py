"""Code as users write it, for the type checkers: mypy and pyright read it in strict mode, and both must be content.

``assert_type`` says what a checker has to see. What has to be an error stands in ``mistakes``, with a comment for each
checker that it reports where there is no such error.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any, assert_type

import attrs
from celery import Celery, Task
from pydantic import BaseModel

import celery_leased_beat
from celery_leased_beat import (
    Cron,
    Envelope,
    Events,
    Every,
    Fire,
    LeasedTask,
    Runner,
    Schedule,
    current_fire,
    daily_at,
    errors,
    event,
    every,
)
from celery_leased_beat.testing import Delivery, Rehearsal, Rehearsals

app = Celery("shop", broker="memory://", set_as_current=False)
events = Events(app)
schedule = Schedule(app)


@event("shop.digest_due")
@dataclass(frozen=True)
class DigestDue:
    audience: str = "all"


@event("shop.stock_low")
@attrs.define
class StockLow:
    item: str
    left: int = 0


@event("shop.order_placed")
class OrderPlaced(BaseModel):
    number: int


assert_type(DigestDue("vip").audience, str)
assert_type(StockLow("socks").left, int)
assert_type(OrderPlaced(number=7).number, int)
assert_type(DigestDue, type[DigestDue])


# An app may say of which class its tasks are, or that any will do: it is an app.


class Logged(Task[..., Any]):
    """The task class of an app."""


def bind(app: "Celery[Any]", logged: "Celery[Logged]", plain: Celery) -> None:
    assert_type(Schedule(app).init_app(logged).init_app(plain), Schedule)
    assert_type(Events(app).init_app(logged).init_app(plain), Events)
    assert_type(Schedule(logged), Schedule)
    assert_type(Rehearsal(logged), Rehearsal)
    assert_type(Runner(logged).empty, bool)


# Listeners keep their types, and are called in a test as what they are.


@events.listener(DigestDue, queue="mail", max_retries=5, timeout=timedelta(minutes=1))
def send_digest(event: DigestDue) -> int:
    return len(event.audience)


@events.listener(StockLow, name="order-more")
def order(event: StockLow, envelope: Envelope, *, urgent: bool = False) -> str:
    return f"{event.item} {envelope.id} {urgent}"


class Shipping:
    def ship(self, event: OrderPlaced) -> None:
        self.last = event.number


shipping = Shipping()
events.listener(OrderPlaced)(shipping.ship)
envelope = Envelope("an id", "shop.stock_low", {"item": "socks"}, datetime(2026, 3, 1, tzinfo=UTC))

assert_type(send_digest(DigestDue()), int)
assert_type(send_digest(event=DigestDue()), int)
assert_type(order(StockLow("socks"), envelope, urgent=True), str)
assert_type(events.listener(OrderPlaced, name="again")(shipping.ship)(OrderPlaced(number=7)), None)


# So do jobs, written as a decorator or given to a call; every other method returns the schedule.


@schedule.job("shop.nightly_sales_report", "0 3 * * *", queue="reports", timeout=timedelta(minutes=10))
def nightly_sales_report(fire: Fire, *, copies: int = 1) -> list[str]:
    return [f"{fire.entry} {fire.instant:%Y-%m-%d} {fire.attempt}"] * copies


def close_books() -> float:
    return 1.5


@app.task(name="shop.tidy_up", base=LeasedTask)
def tidy_up(*, deep: bool = False) -> bool:
    return deep


fire = Fire("an id", "shop.nightly_sales_report", datetime(2026, 3, 1, tzinfo=UTC))
assert_type(nightly_sales_report(fire), list[str])
assert_type(nightly_sales_report(fire, copies=2), list[str])
assert_type(schedule.job("shop.close_books", daily_at("23:55"), close_books, grace=timedelta(hours=1)), Schedule)
assert_type(schedule.job("shop.close_again", timedelta(hours=1), catch_up="skip")(close_books)(), float)
assert_type(schedule.job("shop.weekly", "@weekly", partial(print, "weekly")), Schedule)
assert_type(schedule.job("shop.tidy_up", every("1h30m"), tidy_up, priority=3), Schedule)

chained = (
    schedule.every(timedelta(minutes=15), DigestDue(), grace=60, name="often")
    .every_minute(StockLow("socks"), expires=30)
    .hourly(OrderPlaced(number=1), headers={"x": 1})
    .daily(DigestDue(), timezone="Europe/Budapest", name="daily")
    .daily_at("06:30", DigestDue("vip"), catch_up="all", name="vip")
    .cron("0 9-17 * * mon-fri", DigestDue(), countdown=1.5, name="office hours")
)
assert_type(chained, Schedule)
assert_type(daily_at("06:30"), Cron)
assert_type(every(timedelta(hours=1)), Every)
assert_type(current_fire(), Fire | None)


@dataclass
class Deps:
    report: Callable[[Fire], None]


def register(schedule: Schedule, deps: Deps) -> None:
    schedule.job("shop.report", "@daily", deps.report)


def compose(schedule: Schedule) -> None:
    assert_type(schedule.include("shop.jobs", Deps(print)).autodiscover(["shop"], deps=Deps), Schedule)
    assert_type(events.dispatch(DigestDue(), queue="mail"), str)


# In tests.


def test_the_digest_of_the_night_of_the_change(leased_beat: Rehearsals) -> None:
    rehearsal = leased_beat(schedule)
    assert_type(rehearsal, Rehearsal)
    assert_type(rehearsal.run("vip", at="2026-10-25T01:30 Europe/Budapest"), Fire)
    assert_type(rehearsal.assert_ran_once(send_digest), Delivery[DigestDue])
    assert_type(rehearsal.assert_ran_once(order, StockLow("socks")).event.left, int)
    assert_type(rehearsal.assert_ran_once("send_digest"), Delivery[Any])
    assert_type(rehearsal.fires("2026-03-01T00:00Z", datetime(2026, 3, 2, tzinfo=UTC)), dict[str, tuple[Fire, ...]])


def mistakes(rehearsal: Rehearsal) -> None:
    """Each line is an error for both checkers; it is never called."""
    celery_leased_beat.Shedule()  # type: ignore[attr-defined]  # pyright: ignore
    errors.SpecErorr()  # type: ignore[attr-defined]  # pyright: ignore
    schedule.daily(DigestDue(), queu="mail")  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
    schedule.daily(DigestDue(), timeout=60)  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
    schedule.daily(DigestDue(), catch_up="some")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    schedule.every(15, DigestDue())  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    schedule.job("shop.report", 60, close_books)  # type: ignore[call-overload]  # pyright: ignore[reportArgumentType]
    schedule.job("shop.report", "@daily", "shop.report")  # type: ignore[call-overload]  # pyright: ignore
    schedule.job("shop.report", "@daily", close_books, timeout="5m")  # type: ignore[call-overload]  # pyright: ignore
    events.listener(DigestDue())(send_digest)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    events.listener(DigestDue, grace=60)(send_digest)  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
    events.dispatch(DigestDue(), timeout=60)  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
    event("shop.function")(close_books)  # type: ignore[type-var]  # pyright: ignore[reportArgumentType]
    DigestDue(7)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    StockLow()  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
    send_digest(StockLow("socks"))  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    nightly_sales_report()  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
    nightly_sales_report(fire, copies="two")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    rehearsal.run("vip")  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
    rehearsal.assert_ran_once(send_digest, StockLow("socks"))  # type: ignore[arg-type]  # pyright: ignore
    rehearsal.assert_ran_once(send_digest).event.left = 1  # type: ignore[attr-defined]  # pyright: ignore
