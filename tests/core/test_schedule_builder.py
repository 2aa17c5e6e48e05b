"""The fluent schedule: what becomes of each line, and which mistakes are errors where they were written."""

import sys
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from functools import partial
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from celery import Celery

from celery_leased_beat.errors import (
    DuplicateNameError,
    EventError,
    LeasedBeatError,
    OptionError,
    ScheduleError,
    SpecError,
)
from celery_leased_beat.events import event
from celery_leased_beat.plan import Policy
from celery_leased_beat.schedule import Entry, EventTarget, JobTarget, ScheduleBuilder
from celery_leased_beat.timing import Cron, Every, daily_at, every

BUDAPEST = ZoneInfo("Europe/Budapest")
MINUTES = timedelta(minutes=15)
JOB = ("shop.report", "0 3 * * *")


@event("shop.digest_due")
@dataclass(frozen=True)
class DigestDue:
    audience: str = "all"


@event("shop.sync")
@dataclass(frozen=True)
class SyncInventory:
    pass


@dataclass(frozen=True)
class Nameless:
    pass


@event("shop.unsendable")
@dataclass(frozen=True)
class Unsendable:
    what: Any = None


def report() -> None:
    """A handler that takes nothing."""


async def report_async() -> None:
    """A handler that nobody would await."""


@pytest.fixture
def schedule() -> ScheduleBuilder:
    return ScheduleBuilder()


def only(schedule: ScheduleBuilder) -> Entry:
    (entry,) = schedule.entries.values()
    return entry


def test_an_event_entry_is_the_events_trigger(schedule: ScheduleBuilder) -> None:
    schedule.cron("0 3 * * *", DigestDue("vip"))
    assert only(schedule) == Entry(
        name="shop.digest_due",
        timing=Cron("0 3 * * *"),
        task="schedule:shop.digest_due",
        target=EventTarget("shop.digest_due", DigestDue),
        kwargs={"payload": {"audience": "vip"}},
    )


def test_a_job_is_one_task_without_arguments(schedule: ScheduleBuilder) -> None:
    schedule.job(*JOB, report, queue="reports", timeout=timedelta(minutes=10))
    assert only(schedule) == Entry(
        name="shop.report",
        timing=Cron("0 3 * * *"),
        task="job:shop.report",
        target=JobTarget(
            "shop.report",
            report,
            {"soft_time_limit": 600, "time_limit": 630},
        ),
        options={"queue": "reports"},
    )


def test_every_method_returns_the_schedule(schedule: ScheduleBuilder) -> None:
    chained = (
        schedule.cron("0 3 * * *", DigestDue(), name="cron")
        .every(MINUTES, DigestDue(), name="every")
        .every_minute(DigestDue(), name="every_minute")
        .hourly(DigestDue(), name="hourly")
        .daily(DigestDue(), name="daily")
        .daily_at("06:30", DigestDue(), name="daily_at")
        .job("job", "0 3 * * *", report)
        .include("tests.core.plugins.plain")
    )
    assert chained is schedule
    assert {name: entry.timing.key for name, entry in schedule.entries.items()} == {
        "cron": Cron("0 3 * * *").key,
        "every": Every(MINUTES).key,
        "every_minute": Cron("* * * * *").key,
        "hourly": Cron("0 * * * *").key,
        "daily": Cron("0 0 * * *").key,
        "daily_at": Cron("30 6 * * *").key,
        "job": Cron("0 3 * * *").key,
        "plain": Cron("0 3 * * *").key,
    }


@pytest.mark.parametrize(
    ("spec", "timing"),
    [
        ("*/5 * * * *", Cron("*/5 * * * *")),
        ("@daily", Cron("@daily")),
        ("@every 1h30m", Every(timedelta(minutes=90))),
        (MINUTES, Every(MINUTES)),
        (every("15m"), Every(MINUTES)),
        (daily_at("06:30"), Cron("30 6 * * *")),
        (Cron("0 3 * * *", BUDAPEST), Cron("0 3 * * *", BUDAPEST)),
    ],
)
def test_events_and_jobs_take_every_kind_of_spec(schedule: ScheduleBuilder, spec: Any, timing: Any) -> None:
    schedule.cron(spec, DigestDue()).job("shop.report", spec, report)
    assert [entry.timing for entry in schedule.entries.values()] == [timing, timing]


def test_an_interval_may_be_text(schedule: ScheduleBuilder) -> None:
    assert only(schedule.every("15m", SyncInventory())).timing == Every(MINUTES)


@pytest.mark.parametrize("zone", ["Europe/Budapest", BUDAPEST])
def test_an_entry_has_its_zone(schedule: ScheduleBuilder, zone: str | tzinfo) -> None:
    entry = only(schedule.daily_at("06:30", DigestDue(), timezone=zone))
    assert entry.timezone == BUDAPEST
    assert entry.timing == Cron("30 6 * * *", BUDAPEST)
    assert entry.resolved(ZoneInfo("UTC")) == entry


def test_an_entry_without_a_zone_gets_the_schedules(schedule: ScheduleBuilder) -> None:
    entry = only(schedule.daily(DigestDue())).resolved(BUDAPEST)
    assert entry.timing.next_after(datetime(2026, 7, 1, tzinfo=UTC)) == datetime(2026, 7, 1, 22, tzinfo=UTC)


def test_a_timing_in_one_zone_and_an_option_for_another_contradict(schedule: ScheduleBuilder) -> None:
    with pytest.raises(OptionError, match="timezone='UTC': the timing has a zone of its own, Europe/Budapest"):
        schedule.cron(Cron("0 3 * * *", BUDAPEST), DigestDue(), timezone="UTC")
    schedule.cron(Cron("0 3 * * *", BUDAPEST), DigestDue(), timezone="Europe/Budapest")


def test_catch_up_and_grace_become_the_policy(schedule: ScheduleBuilder) -> None:
    schedule.hourly(DigestDue(), catch_up="all", grace=timedelta(minutes=5)).hourly(SyncInventory(), grace=30)
    assert [entry.policy for entry in schedule.entries.values()] == [
        Policy("all", timedelta(minutes=5)),
        Policy("latest", timedelta(seconds=30)),
    ]


def test_options_of_the_message_are_ready_for_json(schedule: ScheduleBuilder) -> None:
    schedule.hourly(
        DigestDue(),
        queue="mail",
        routing_key="mail.digest",
        exchange="shop",
        priority=3,
        headers={"x-shop": ["a", 1]},
        expires=timedelta(minutes=1),
        countdown=0.5,
    )
    assert only(schedule).options == {
        "queue": "mail",
        "routing_key": "mail.digest",
        "exchange": "shop",
        "priority": 3,
        "headers": {"x-shop": ["a", 1]},
        "expires": 60,
        "countdown": 0.5,
    }


def test_an_entry_may_have_any_name(schedule: ScheduleBuilder) -> None:
    schedule.hourly(DigestDue(), name="the digest: for all ✓").hourly(DigestDue("vip"))
    assert list(schedule.entries) == ["the digest: for all ✓", "shop.digest_due"]
    assert {entry.task for entry in schedule.entries.values()} == {"schedule:shop.digest_due"}


def test_the_entries_cannot_be_written_around_the_schedule(schedule: ScheduleBuilder) -> None:
    with pytest.raises(TypeError):
        schedule.entries["x"] = only(schedule.hourly(DigestDue()))  # type: ignore[index]


def test_a_job_as_a_decorator_returns_the_handler(schedule: ScheduleBuilder) -> None:
    decorated = schedule.job(*JOB, queue="reports")(report)
    assert decorated is report
    assert only(schedule).target == JobTarget("shop.report", report, only(schedule).target.task_options)  # type: ignore[union-attr]
    assert only(schedule).options == {"queue": "reports"}


def test_a_job_that_is_left_without_its_handler_is_refused_when_the_schedule_is_read(schedule: ScheduleBuilder) -> None:
    schedule.check_complete()
    decorate = schedule.job("shop.nothing", "@daily")
    line = sys._getframe().f_lineno - 1
    with pytest.raises(ScheduleError, match=r"'shop\.nothing' of .*, line \d+, has no handler") as refused:
        schedule.check_complete()
    assert f"{__file__}, line {line}," in str(refused.value)
    decorate(report)
    schedule.check_complete()


class Reports:
    def __call__(self) -> None: ...

    def build(self) -> None: ...


@pytest.mark.parametrize("handler", [lambda: None, partial(print, "x"), Reports(), Reports().build, print])
def test_a_job_takes_any_callable(schedule: ScheduleBuilder, handler: Any) -> None:
    schedule.job(*JOB, handler)
    assert isinstance(target := only(schedule).target, JobTarget)
    assert target.handler is handler


@pytest.fixture
def app() -> Celery:
    return Celery("shop", set_as_current=False)


def test_a_celery_task_is_sent_as_itself(schedule: ScheduleBuilder, app: Celery) -> None:
    @app.task(name="shop.tasks.report", bind=True)
    def task(self: Any, verbose: bool = False) -> None: ...

    schedule.job(*JOB, task, queue="reports")
    assert only(schedule).task == "shop.tasks.report"
    assert only(schedule).target == JobTarget("shop.report", task)


def test_a_celery_task_has_its_options_itself(schedule: ScheduleBuilder, app: Celery) -> None:
    task = app.task(name="shop.tasks.report")(report)
    with pytest.raises(OptionError, match=r"'max_retries' is no option of .*; it belongs on the task itself"):
        schedule.job(*JOB, task, max_retries=3)


def test_a_celery_task_that_wants_arguments_is_refused(schedule: ScheduleBuilder, app: Celery) -> None:
    @app.task(name="shop.tasks.report")
    def task(month: int) -> None: ...

    with pytest.raises(ScheduleError, match="sent without arguments; 'month' needs a default"):
        schedule.job(*JOB, task)


def test_a_signature_is_no_handler(schedule: ScheduleBuilder, app: Celery) -> None:
    with pytest.raises(ScheduleError, match="cannot be called"):
        schedule.job(*JOB, app.task(name="shop.tasks.report")(report).s())


@pytest.mark.parametrize(
    ("mistake", "error", "message"),
    [
        (lambda s: s.cron("0 3 * *", DigestDue()), SpecError, "exactly five"),
        (lambda s: s.cron("0 0 3 * * *", DigestDue()), SpecError, "exactly five"),
        (lambda s: s.cron("0 0 30 2 *", DigestDue()), SpecError, "30 2"),
        (lambda s: s.cron(5, DigestDue()), SpecError, "5 is not a timing"),
        (lambda s: s.every("often", DigestDue()), SpecError, "often"),
        (lambda s: s.every(timedelta(0), DigestDue()), SpecError, "0"),
        (lambda s: s.daily_at("25:61", DigestDue()), SpecError, "'25:61' is not a time of day"),
        (lambda s: s.daily(DigestDue(), timezone="Europe/Atlantis"), SpecError, "Europe/Atlantis"),
        (lambda s: s.job("shop.report", "0 99 * * *", report), SpecError, "99"),
        (lambda s: s.job("shop.report", "0 99 * * *"), SpecError, "99"),
        (lambda s: s.hourly(DigestDue(), queu="x"), OptionError, "queu='x': an event entry has no such option, "
         "did you mean 'queue'\\? allowed are catch_up, countdown, exchange, expires, grace, headers, name, priority, "
         "queue, routing_key, timezone"),
        (lambda s: s.hourly(DigestDue(), jitter=5), OptionError, "jitter=5: an event entry has no such option; allow"),
        (lambda s: s.job(*JOB, report, overlap=True), OptionError, "overlap=True: a job has no such option"),
        (lambda s: s.job(*JOB, retries=5), OptionError, "did you mean 'max_retries'"),
        (lambda s: s.hourly(DigestDue(), max_retries=5), OptionError,
         r"it belongs on the listener: @events.listener\(..., max_retries=5\)"),
        (lambda s: s.hourly(DigestDue(), timeout=5), OptionError, "it belongs on the listener"),
        (lambda s: s.hourly(DigestDue()).hourly(DigestDue("vip")), DuplicateNameError,
         'an entry "shop.digest_due" already .*name="..."'),
        (lambda s: s.job(*JOB, report).job(*JOB, report), DuplicateNameError, 'an entry "shop.report" already'),
        (lambda s: s.job(*JOB, report).job(*JOB), DuplicateNameError, 'an entry "shop.report" already'),
        (lambda s: s.job("shop.sync", MINUTES, report).every(MINUTES, SyncInventory()), DuplicateNameError, "sync"),
        (lambda s: s.every(MINUTES, SyncInventory), EventError, r"is the class of event .*: SyncInventory\(...\)"),
        (lambda s: s.every(MINUTES, Nameless()), EventError, 'Nameless is not an event: put @event'),
        (lambda s: s.every(MINUTES, None), EventError, "NoneType is not an event"),
        (lambda s: s.every(MINUTES, report), EventError, r"no event; a handler runs as a job: schedule.job\("),
        (lambda s: s.every(MINUTES, Unsendable(object())), EventError, "payload.what: JSON cannot carry"),
        (lambda s: s.hourly(DigestDue(), name=""), OptionError, "name='': it has to be a text that is not empty"),
        (lambda s: s.hourly(DigestDue(), name="\udcff"), OptionError, "is no text that UTF-8 can carry"),
        (lambda s: s.job("shop:report", "0 3 * * *", report), ScheduleError, "'shop:report': the name of a job is"),
        (lambda s: s.job(None, "0 3 * * *", report), ScheduleError, "None: the name of a job is"),
        (lambda s: s.job(*JOB, None), ScheduleError, "the handler None cannot be called"),
        (lambda s: s.job(*JOB, DigestDue()), ScheduleError, r"the handler DigestDue\(.*\) cannot be called"),
        (lambda s: s.job(*JOB, Reports), ScheduleError, r"Reports is a class; give an object of it, Reports\(...\)"),
        (lambda s: s.job(*JOB, report_async), ScheduleError, "is async"),
        (lambda s: s.job(*JOB)(report_async), ScheduleError, "is async"),
        (lambda s: s.job(*JOB, lambda one, two: None), ScheduleError, "at most one Fire, so 'two' needs a default"),
    ],
)  # fmt: skip
def test_a_mistake_is_an_error_where_it_was_written(
    schedule: ScheduleBuilder, mistake: Any, error: type[LeasedBeatError], message: str
) -> None:
    with pytest.raises(error, match=message):
        mistake(schedule)
    assert len(schedule.entries) <= 1


def test_the_binding_hears_of_each_entry() -> None:
    heard: list[str] = []

    class Bound(ScheduleBuilder):
        def _added(self, entry: Entry) -> None:
            heard.append(entry.name)

    Bound().hourly(DigestDue()).job("shop.report", "0 3 * * *", report)
    assert heard == ["shop.digest_due", "shop.report"]
