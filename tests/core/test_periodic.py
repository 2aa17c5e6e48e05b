"""What an app has already becomes entries of ours; what is broken is a problem, and the others go on."""

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

import pytest
from celery import Celery
from celery.beat import BeatLazyFunc, ScheduleEntry
from celery.schedules import crontab
from kombu import Exchange, Queue

from celery_leased_beat import Schedule, event
from celery_leased_beat.binding.periodic import CLEANUP, periodic_entries
from celery_leased_beat.binding.served import served
from celery_leased_beat.errors import DuplicateNameError, OptionError, SettingsError
from celery_leased_beat.plan import Policy
from celery_leased_beat.schedule import Entry, ScheduleBuilder, TaskTarget
from celery_leased_beat.scheduler import Scheduler
from celery_leased_beat.tasks import settings_for
from celery_leased_beat.timing import Every

MINUTE = timedelta(minutes=1)


@event("core.digest_due")
@dataclass(frozen=True)
class DigestDue:
    """Something to dispatch."""


def an_app(schedule: Mapping[str, Any] | None = None, **settings: Any) -> Celery:
    app = Celery("plain", broker="redis://localhost:1/0", set_as_current=False)
    app.conf.update(result_expires=None, **settings)
    if schedule is not None:
        app.conf.beat_schedule = schedule
    return app


def print_nothing() -> None:
    """A body."""


def entry_of(app: Celery | None = None, **written: Any) -> Entry:
    app = app or an_app()
    app.conf.beat_schedule = {"entry": {"task": "a.task", "schedule": 60, **written}}
    found = periodic_entries(app)
    assert found.problems == ()
    return found.entries["entry"]


def problem_of(app: Celery | None = None, **written: Any) -> str:
    app = app or an_app()
    app.conf.beat_schedule = {
        "broken": {"task": "a.task", "schedule": 60, **written},
        "other": {"task": "a.task", "schedule": 60},
    }
    found = periodic_entries(app)
    assert set(found.entries) == {"other"}
    (problem,) = found.problems
    assert problem.entry == "broken"
    return problem.why


class TestEntries:
    def test_an_entry_is_sent_by_the_name_of_its_task(self) -> None:
        entry = entry_of(args=(1, "two"), kwargs={"three": 3}, options={"queue": "mail"})
        assert (entry.name, entry.task, entry.target) == ("entry", "a.task", TaskTarget("a.task"))
        assert entry.arguments() == ((1, "two"), {"three": 3})
        assert entry.options == {"queue": "mail", "headers": {"celery_beat_task": True}}
        assert (entry.timing, entry.policy) == (Every(MINUTE), Policy())

    def test_handlers_of_the_app_add_theirs(self) -> None:
        app = an_app()

        @app.task(name="a.task", shared=False)
        def task(number: int) -> None: ...

        app.on_after_configure.connect(
            lambda sender, **_: sender.add_periodic_task(
                60, task.s(1).set(queue="mail"), name="configured", priority=3
            ),
            weak=False,
        )
        app.on_after_finalize.connect(
            lambda sender, **_: sender.add_periodic_task(crontab(0, 3), task.s(2), name="finalized"), weak=False
        )
        entries = periodic_entries(app).entries
        assert set(entries) == {"configured", "finalized"}
        assert entries["configured"].arguments() == ((1,), {})
        assert entries["configured"].options == {"queue": "mail", "priority": 3, "headers": {"celery_beat_task": True}}
        assert entries["finalized"].timing.key == "cron 0 3 * * * UTC"

    def test_an_entry_of_beats_own_class_may_stand_there(self) -> None:
        app = an_app()
        app.conf.beat_schedule = {"entry": ScheduleEntry("x", "a.task", schedule=60, app=app, args=(1,))}
        assert periodic_entries(app).entries["entry"].arguments() == ((1,), {})

    def test_a_task_may_stand_in_the_place_of_its_name(self) -> None:
        app = an_app()
        task = app.task(name="b.task", shared=False)(print_nothing)
        assert entry_of(app, task=task).task == "b.task"

    def test_a_relative_entry_is_aligned(self) -> None:
        assert entry_of(schedule=timedelta(hours=2), relative=True).timing.key == "aligned 7200000 UTC"

    def test_what_a_broker_has_to_be_told_is_left_to_the_publisher(self) -> None:
        entry = entry_of(options={"task_id": "same", "retry": True, "retry_policy": {}, "connection": object()})
        assert entry.options == {"headers": {"celery_beat_task": True}}

    def test_headers_of_the_users_own_stay(self) -> None:
        assert entry_of(options={"headers": {"tenant": 7}}).options["headers"] == {
            "tenant": 7,
            "celery_beat_task": True,
        }

    def test_what_becomes_of_missed_instants_is_told_among_the_options_and_is_none_of_the_message(self) -> None:
        options = {"catch_up": "all", "grace": 90, "queue": "mail"}
        for schedule in (60, crontab()):
            entry = entry_of(schedule=schedule, options=options)
            assert entry.policy == Policy("all", grace=timedelta(seconds=90))
            assert entry.options == {"queue": "mail", "headers": {"celery_beat_task": True}}

    def test_a_duration_becomes_seconds(self) -> None:
        assert entry_of(options={"expires": 5 * MINUTE}).options["expires"] == 300

    def test_a_queue_that_is_defined_is_named(self) -> None:
        mail = Queue("mail", Exchange("letters"), "mail")
        options = {"queue": mail, "exchange": mail.exchange}
        entry = entry_of(an_app(task_queues=[mail]), options=options)
        assert (entry.options["queue"], entry.options["exchange"]) == ("mail", "letters")


class TestArguments:
    def test_what_the_json_of_messages_carries_stays_what_it_is(self) -> None:
        values = (datetime(2026, 6, 1, tzinfo=UTC), Decimal("1.50"), UUID(int=7), b"bytes", {"a": [1, None, True]})
        assert entry_of(args=values).arguments() == (values, {})

    def test_lazy_arguments_are_evaluated_for_each_fire_and_not_before(self) -> None:
        calls: list[int] = []

        def count(step: int) -> int:
            calls.append(step)
            return len(calls) * step

        lazy = BeatLazyFunc(count, 10)
        entry = entry_of(args=(lazy, "fixed"), kwargs={"named": lazy})
        assert calls == []
        assert [entry.arguments(), entry.arguments()] == [
            ((10, "fixed"), {"named": 20}),
            ((30, "fixed"), {"named": 40}),
        ]

    def test_a_lazy_argument_that_cannot_be_carried_is_an_error_of_its_fire(self) -> None:
        entry = entry_of(args=(BeatLazyFunc(object),))
        with pytest.raises(OptionError, match="argument 1"):
            entry.arguments()

    def test_a_task_of_another_serializer_gets_what_was_written_or_nothing(self) -> None:
        app = an_app(task_serializer="pickle", accept_content=["json", "pickle"])
        assert entry_of(app, args=((1, 2), Decimal(1))).arguments() == (([1, 2], Decimal(1)), {})
        assert "would change" in problem_of(app, args=({1: "a"},))


PROBLEMS: dict[str, tuple[dict[str, Any], str]] = {
    "no schedule": ({"schedule": None}, "give seconds, a timedelta, crontab"),
    "a spec of ours": ({"schedule": "0 3 * * *"}, "give seconds, a timedelta, crontab"),
    "a number that is none": ({"schedule": float("nan")}, "its schedule is nan; give a number of seconds"),
    "seconds without an end": ({"schedule": float("inf")}, "its schedule is inf; give a number of seconds"),
    "seconds beyond the calendar": ({"schedule": 1e300, "relative": True}, "its schedule is 1e+300; give a number"),
    "no task": ({"task": None}, "give the name of a task"),
    "an unknown key": ({"enabled": True}, "it has ['enabled'], where an entry takes args"),
    "args that are one": ({"args": "text"}, "give a list or a tuple"),
    "kwargs that have no names": ({"kwargs": {1: 2}}, "a dict of names and values"),
    "an argument that cannot be kept": ({"args": [object()]}, "its argument 1 is <object"),
    "an option that cannot be kept": ({"options": {"link": object()}}, "its option 'link' is <object"),
    "a grace that is none": ({"options": {"grace": "soon"}}, "grace='soon': it has to be a timedelta"),
    "a catch-up that is none": ({"options": {"catch_up": "some"}}, "catch_up='some' is not known"),
    "options that are none": ({"options": [1]}, "give a dict"),
    "headers that are none": ({"options": {"headers": 1}}, "its option 'headers' is 1"),
    "a queue that nobody defined": ({"options": {"queue": Queue("lost")}}, "define it in task_queues"),
}


@pytest.mark.parametrize(("written", "why"), PROBLEMS.values(), ids=PROBLEMS.keys())
def test_a_broken_entry_is_a_problem_and_the_others_go_on(written: dict[str, Any], why: str) -> None:
    assert why in problem_of(**written)


@pytest.mark.parametrize("written", [5, 0, "text", [1, 2], crontab()])
def test_an_entry_that_is_no_dict_is_a_problem_that_says_what_it_is(written: Any) -> None:
    found = periodic_entries(an_app({"broken": written, "other": {"task": "a.task", "schedule": 60}}))
    assert set(found.entries) == {"other"}
    assert [str(problem.why) for problem in found.problems] == [
        f"it is {written!r}: a dict is wanted, with its task and its schedule"
    ]


def test_unknown_keys_of_several_kinds_are_all_told() -> None:
    (problem,) = periodic_entries(
        an_app({"broken": {"task": "a.task", "schedule": 60, "enabled": True, 5: 6}})
    ).problems
    assert problem.why.startswith("it has ['enabled', 5], where an entry takes")


def test_an_entry_that_is_nothing_is_a_problem() -> None:
    (problem,) = periodic_entries(an_app({"nothing": None})).problems
    assert problem.entry == "nothing"


def test_arguments_that_the_task_does_not_take_are_a_problem() -> None:
    app = an_app()

    @app.task(name="a.task", shared=False)
    def task(number: int = 0) -> None: ...

    assert "does not take its arguments" in problem_of(app, kwargs={"text": ""})


def test_a_crontab_of_a_date_that_never_comes_is_a_problem() -> None:
    impossible = crontab(0, 0, day_of_month=30, month_of_year=3)
    impossible.month_of_year = {2}  # Celery 5.7 does not let it be written
    assert "no date ever matches" in problem_of(schedule=impossible)


class TestCleanup:
    """Celery's own clean-up of results is where Celery would have it."""

    @pytest.mark.parametrize("backend", [None, "file:///tmp"])
    def test_it_is_there_where_results_end_and_the_backend_does_not_see_to_it(self, backend: str | None) -> None:
        app = an_app({}, result_backend=backend)
        app.conf.result_expires = timedelta(days=1)
        entry = periodic_entries(app).entries[CLEANUP]
        assert (entry.task, entry.timing.key) == (CLEANUP, "cron 0 4 * * * UTC")
        assert entry.options["expires"] == 12 * 3600

    @pytest.mark.parametrize("settings", [{"result_expires": None}, {"result_expires": 0},
                                          {"result_expires": 0, "result_backend": "file:///tmp"},
                                          {"result_expires": 60, "result_backend": "redis://localhost:1"},
                                          {"result_expires": 60, "result_backend": "cache+memory://"}])  # fmt: skip
    def test_it_is_not_there_where_it_has_nothing_to_do(self, settings: dict[str, Any]) -> None:
        app = an_app({})
        app.conf.update(settings)
        assert periodic_entries(app).entries == {}

    def test_an_entry_of_its_name_takes_its_place(self) -> None:
        app = an_app({CLEANUP: {"task": CLEANUP, "schedule": 60, "options": {"queue": "mail"}}})
        app.conf.result_expires = 60
        assert periodic_entries(app).entries[CLEANUP].options["queue"] == "mail"

    def test_alone_it_is_no_reason_to_serve(self) -> None:
        app = an_app({})
        app.conf.result_expires = 60
        found = served(app, ScheduleBuilder(), settings_for(app))
        assert set(found.entries) == {CLEANUP}
        assert found.empty

    def test_a_backend_that_cannot_be_loaded_is_a_problem_of_its_own(self) -> None:
        app = an_app({"entry": {"task": "a.task", "schedule": 60}}, result_backend="nowhere://")
        app.conf.result_expires = 60
        found = periodic_entries(app)
        assert set(found.entries) == {"entry"}
        assert [problem.entry for problem in found.problems] == [CLEANUP]


class TestServed:
    """What one replica serves: the Schedule and the beat_schedule together."""

    def test_both_are_served(self) -> None:
        app = an_app({"plain": {"task": "a.task", "schedule": 60}})
        builder = ScheduleBuilder().job("ours", "0 3 * * *", lambda: None)
        found = served(app, builder, settings_for(app))
        assert set(found.entries) == {"plain", "ours"}
        assert found.entries["ours"].timing.key == "cron 0 3 * * * UTC"
        assert not found.empty

    def test_a_name_that_both_have_is_an_error(self) -> None:
        app = an_app({"same": {"task": "a.task", "schedule": 60}})
        builder = ScheduleBuilder().job("same", "0 3 * * *", lambda: None)
        with pytest.raises(DuplicateNameError, match="beat_schedule and the Schedule both have an entry 'same'"):
            served(app, builder, settings_for(app))

    def test_the_starting_deadline_is_the_grace_of_what_goes_by_a_cron(self) -> None:
        app = an_app({"cron": {"task": "a.task", "schedule": crontab()}, "every": {"task": "a.task", "schedule": 60}})
        app.conf.beat_cron_starting_deadline = 90
        builder = ScheduleBuilder()
        builder.job("ours", "@daily", lambda: None).job("own", "@daily", lambda: None, grace=5)
        builder.job("grid", "@every 1m", lambda: None)
        late = timedelta(seconds=90)
        assert self.graces(app, builder) == {
            "cron": late, "every": None, "ours": late, "own": timedelta(seconds=5), "grid": None,
        }  # fmt: skip

    def test_a_grace_of_none_is_the_way_out_of_the_starting_deadline(self) -> None:
        app = an_app({"cron": {"task": "a.task", "schedule": crontab(), "options": {"grace": None}}})
        app.conf.beat_cron_starting_deadline = 90
        app.on_after_configure.connect(
            lambda sender, **_: sender.add_periodic_task(
                crontab(), sender.signature("a.task"), name="added", grace=None
            ),
            weak=False,
        )
        builder = ScheduleBuilder()
        builder.job("ours", "@daily", lambda: None, grace=None)
        builder.daily_at("06:30", DigestDue(), grace=None)
        assert self.graces(app, builder) == dict.fromkeys(["cron", "added", "ours", "core.digest_due"])

    def graces(self, app: Celery, builder: ScheduleBuilder) -> dict[str, timedelta | None]:
        entries = served(app, builder, settings_for(app)).entries
        return {name: entry.policy.grace for name, entry in entries.items()}

    @pytest.mark.parametrize("value", [-1, "soon"])
    def test_a_starting_deadline_that_is_none_is_an_error(self, value: Any) -> None:
        with pytest.raises(SettingsError, match="beat_cron_starting_deadline"):
            periodic_entries(an_app({}, beat_cron_starting_deadline=value))

    def test_the_scheduler_shows_them_before_it_reaches_any_server(self) -> None:
        app = an_app({"plain": {"task": "a.task", "schedule": 60}, "broken": None})
        scheduler = Scheduler(app, lazy=True)
        assert set(scheduler.schedule) == {"plain"}
        assert "entries -> 1, 1 more cannot be served" in scheduler.info

    def test_the_banner_counts_what_the_user_wrote_and_names_the_clean_up_apart(self) -> None:
        app = an_app()
        app.conf.result_expires = 60
        assert f"entries -> 0, and {CLEANUP}" in Scheduler(app, lazy=True).info
        Schedule(app).job("ours", "@daily", print_nothing)
        app.conf.beat_schedule = {"broken": None}
        assert f"entries -> 1, and {CLEANUP}, 1 more cannot be served" in Scheduler(app, lazy=True).info

    def test_the_scheduler_does_not_start_with_a_name_that_both_have(self) -> None:
        app = an_app({"same": {"task": "a.task", "schedule": 60}})
        Schedule(app).job("same", "0 3 * * *", print_nothing)
        with pytest.raises(SystemExit, match="both have an entry 'same'"):
            Scheduler(app)

    def test_problems_and_unknown_tasks_are_told_once_each(self, caplog: pytest.LogCaptureFixture) -> None:
        app = an_app({
            "broken": {"task": "a.task", "schedule": None},
            "one": {"task": "lost", "schedule": 60}, "two": {"task": "lost", "schedule": 60},
        })  # fmt: skip
        found = served(app, ScheduleBuilder(), settings_for(app))
        assert caplog.messages == []
        found.report()
        assert [(record.levelno, record.getMessage().split(":")[0]) for record in caplog.records] == [
            (logging.ERROR, "the entry 'broken' of beat_schedule is not served, the others are"),
            (logging.WARNING, "the task lost of 'one', 'two' is not registered in this process"),
        ]
