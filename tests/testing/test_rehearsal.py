"""A rehearsal does what a replica and a worker would do, at made-up times and without a server."""

import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from types import ModuleType
from typing import Any

import pytest
from celery import Celery
from celery.exceptions import Retry
from celery.schedules import BaseSchedule, crontab, schedstate

from celery_leased_beat import Envelope, Events, Fire, LeasedTask, Schedule, current_fire, event
from celery_leased_beat.engine import Intent
from celery_leased_beat.errors import EventError, PayloadError, ScheduleError, SettingsError
from celery_leased_beat.fires import fire_id
from celery_leased_beat.headers import fire_header
from celery_leased_beat.testing import Delivery, Rehearsal

NIGHT = "2026-10-25T01:30 Europe/Budapest"
INSTANT = datetime.fromisoformat("2026-10-24T23:30Z")
DAY = ("2026-10-25 Europe/Budapest", "2026-10-26 Europe/Budapest")


@event("shop.digest_due")
@dataclass(frozen=True)
class DigestDue:
    audience: str = "all"
    cc: list[str] = field(default_factory=list)


@event("shop.mail_sent")
@dataclass(frozen=True)
class MailSent:
    number: int


@pytest.fixture
def app() -> Celery:
    app = Celery("shop", broker="amqp://no-server.invalid", set_as_current=False)
    app.conf.update(timezone="Europe/Budapest")
    return app


@pytest.fixture
def events(app: Celery) -> Events:
    return Events(app)


@pytest.fixture
def schedule(app: Celery) -> Schedule:
    return Schedule(app)


def instants(fires: tuple[Fire, ...]) -> list[str]:
    return [fire.instant.strftime("%H:%M") for fire in fires]


# What fires.


def test_each_entry_tells_what_fires_from_one_instant_on_and_before_another(schedule: Schedule) -> None:
    schedule.daily(DigestDue()).job("shop.report", "30 2 * * *", print)
    schedule.cron("30 * * * *", DigestDue(), name="half past", timezone="UTC")
    fires = Rehearsal(schedule).fires("2026-10-24T22:00Z", "2026-10-25T02:30Z")
    assert {name: instants(found) for name, found in fires.items()} == {
        "shop.digest_due": ["22:00"],
        "shop.report": ["00:30"],
        "half past": ["22:30", "23:30", "00:30", "01:30"],
    }


def test_a_fire_has_the_id_that_it_has_in_production(app: Celery, schedule: Schedule) -> None:
    app.conf.leased_beat_namespace = "shop-in-budapest"
    schedule.job("shop.report", "30 1 * * *", print)
    (fire,) = Rehearsal(app).fires(*DAY)["shop.report"]
    assert fire == Fire(fire_id("shop-in-budapest", "shop.report", INSTANT), "shop.report", INSTANT)


def test_the_zone_is_that_of_the_settings(app: Celery, schedule: Schedule) -> None:
    app.conf.leased_beat_timezone = "America/New_York"
    schedule.job("shop.report", "0 3 * * *", print)
    assert instants(Rehearsal(app).fires(*DAY)["shop.report"]) == ["07:00"]


@pytest.mark.parametrize(
    ("first_seen", "expected"), [(None, ["22:15", "22:30"]), ("2026-10-24T12:07Z", ["22:07", "22:22", "22:37"])]
)
def test_intervals_begin_when_they_were_first_seen(
    schedule: Schedule, first_seen: str | None, expected: list[str]
) -> None:
    schedule.every("15m", DigestDue())
    fires = Rehearsal(schedule, first_seen=first_seen).fires("2026-10-24T22:00Z", "2026-10-24T22:45Z")
    assert instants(fires["shop.digest_due"]) == expected


def test_what_the_app_has_in_its_beat_schedule_fires_too(app: Celery) -> None:
    app.conf.beat_schedule = {"tidy": {"task": "shop.tidy_up", "schedule": crontab("30", "1")}}
    fires = Rehearsal(app).fires(*DAY)
    assert {name: instants(found) for name, found in fires.items()} == {"tidy": ["23:30"]}


def test_a_schedule_that_has_to_be_asked_is_asked_for_all_of_the_time(app: Celery) -> None:
    class WhenTheMinuteIsOver(BaseSchedule):
        def is_due(self, last_run_at: datetime) -> schedstate:
            now = self.now()
            return schedstate(now.second == 0 and now > last_run_at, 5)

        def __repr__(self) -> str:
            return "<when the minute is over>"

    app.conf.beat_schedule = {"tick": {"task": "shop.tick", "schedule": WhenTheMinuteIsOver(app=app)}}
    assert len(Rehearsal(app).fires("2026-03-01T00:00:30Z", "2026-03-01T06:00:30Z")["tick"]) == 360


def test_time_does_not_run_backwards(schedule: Schedule) -> None:
    with pytest.raises(ValueError, match="is later than"):
        Rehearsal(schedule).fires(*reversed(DAY))
    assert Rehearsal(schedule.daily(DigestDue())).fires(DAY[0], DAY[0]) == {"shop.digest_due": ()}


# Jobs.


def test_a_job_gets_its_fire_at_a_made_up_time(schedule: Schedule) -> None:
    got: list[Fire] = []
    schedule.job("shop.report", "0 3 * * *", got.append)
    fire = Rehearsal(schedule).run("shop.report", at=NIGHT)
    assert got == [fire] == [Fire(fire_id("shop", "shop.report", INSTANT), "shop.report", INSTANT)]


def test_a_job_without_a_parameter_knows_its_fire_too(schedule: Schedule) -> None:
    got: list[Fire | None] = []
    schedule.job("shop.report", "@daily", lambda: got.append(current_fire()))
    fire = Rehearsal(schedule).run("shop.report", at=NIGHT)
    assert got == [fire]


def test_the_error_of_a_job_is_raised_and_nothing_is_retried(schedule: Schedule) -> None:
    calls = []

    @schedule.job("shop.report", "@daily", max_retries=5)
    def report() -> None:
        calls.append(1)
        raise RuntimeError("no paper")

    with pytest.raises(RuntimeError, match="no paper") as caught:
        Rehearsal(schedule).run("shop.report", at=NIGHT)
    assert calls == [1]
    assert caught.traceback[-1].name == "report"


def test_a_celery_task_runs_as_itself_and_knows_its_fire(app: Celery, schedule: Schedule) -> None:
    got: list[Any] = []

    @app.task(name="shop.tidy_up", bind=True, shared=False)
    def tidy_up(self: Any) -> None:
        got.extend([self.request.id, current_fire()])

    schedule.job("shop.tidy", "@daily", tidy_up)
    fire = Rehearsal(schedule).run("shop.tidy", at=NIGHT)
    assert got == [fire.id, fire]


def test_a_task_that_asks_for_a_retry_raises_its_reason(app: Celery, schedule: Schedule) -> None:
    @app.task(name="shop.stubborn", bind=True, base=LeasedTask, shared=False)
    def stubborn(self: Any) -> None:
        raise self.retry(exc=ConnectionError("no line"), countdown=60)

    @app.task(name="shop.vague", bind=True, shared=False)
    def vague(self: Any) -> None:
        self.retry(countdown=60)

    schedule.job("stubborn", "@daily", stubborn).job("vague", "@daily", vague)
    with pytest.raises(ConnectionError, match="no line"):
        Rehearsal(schedule).run("stubborn", at=NIGHT)
    with pytest.raises(Retry):
        Rehearsal(schedule).run("vague", at=NIGHT)
    assert "retry" not in vars(app.tasks["shop.vague"]), "tasks are left as they were"


def test_an_entry_of_the_beat_schedule_runs_with_its_arguments(app: Celery) -> None:
    got: list[Any] = []

    @app.task(name="shop.tidy_up", shared=False)
    def tidy_up(*args: Any, **kwargs: Any) -> None:
        got.extend([args, kwargs, current_fire()])

    app.conf.beat_schedule = {
        "tidy": {"task": "shop.tidy_up", "schedule": 60, "args": (1, [2]), "kwargs": {"deep": True}},
        "gone": {"task": "shop.gone", "schedule": 60},
        "broken": {"task": "shop.tidy_up", "schedule": "every minute"},
    }
    fire = Rehearsal(app).run("tidy", at=NIGHT)
    assert got == [(1, [2]), {"deep": True}, fire]
    with pytest.raises(LookupError, match=r"the app has no task shop\.gone"):
        Rehearsal(app).run("gone", at=NIGHT)
    with pytest.raises(LookupError, match="'broken' of beat_schedule cannot be served"):
        Rehearsal(app).run("broken", at=NIGHT)


def test_an_entry_that_is_not_there_is_told_apart(schedule: Schedule) -> None:
    schedule.job("shop.report", "@daily", print)
    with pytest.raises(LookupError, match=r"no entry 'shop\.reprot'; did you mean 'shop\.report'\?"):
        Rehearsal(schedule).run("shop.reprot", at=NIGHT)


# Events.


def test_an_event_reaches_each_listener_once_with_its_envelope(events: Events, schedule: Schedule) -> None:
    got: list[Any] = []
    events.listener(DigestDue, name="mail")(lambda event: got.append(event))
    events.listener(DigestDue, name="post")(lambda event, envelope: got.append(envelope))
    schedule.daily(DigestDue("vip"))
    rehearsal = Rehearsal(schedule)
    fire = rehearsal.run("shop.digest_due", at=NIGHT)

    mail, post = rehearsal.assert_ran_once("mail"), rehearsal.assert_ran_once("listener:shop.digest_due:post")
    assert mail == Delivery("mail", DigestDue("vip"), post.envelope)
    assert got == [DigestDue("vip"), post.envelope]
    assert (post.envelope.id, post.envelope.occurred_at) == (fire.id, INSTANT)
    assert rehearsal.deliveries == (mail, post)


def test_the_envelope_is_the_one_that_a_worker_makes(app: Celery, events: Events, schedule: Schedule) -> None:
    got: list[Envelope] = []

    @events.listener(DigestDue)
    def mail(event: DigestDue, envelope: Envelope) -> None:
        got.append(envelope)

    schedule.daily(DigestDue("vip", ["post"]))
    fire = Rehearsal(schedule).run("shop.digest_due", at=NIGHT)
    entry = schedule.entries["shop.digest_due"]
    headers = fire_header(Intent(fire, entry.task, term=1), "shop", delivery="a delivery")
    app.tasks[entry.task].apply(kwargs=dict(entry.kwargs), task_id=fire.id, headers=headers, throw=True)
    assert got[0] == got[1]


def test_listeners_get_copies_that_went_through_json(app: Celery, events: Events) -> None:
    @events.listener(DigestDue)
    def first(event: DigestDue) -> None:
        event.cc.append("scribble")

    @events.listener(DigestDue)
    def second(event: DigestDue) -> None:
        assert event.cc == ["post"]

    sent = DigestDue(cc=["post"])
    rehearsal = Rehearsal(app)
    rehearsal.dispatch(sent)
    assert sent.cc == ["post"]
    assert [one.event for one in rehearsal.deliveries] == [sent, sent]


def test_an_event_that_json_cannot_carry_fails(app: Celery, events: Events) -> None:
    @event("shop.odd")
    @dataclass
    class Odd:
        thing: Any

    events.listener(Odd, name="never")(print)
    rehearsal = Rehearsal(app)
    with pytest.raises(EventError, match="JSON cannot carry"):
        rehearsal.dispatch(Odd(object()))
    rehearsal.assert_not_run("never")


def test_a_listener_whose_class_lost_touch_with_the_payload_fails(app: Celery, events: Events) -> None:
    @event("shop.mail_sent")
    @dataclass
    class NewMailSent:
        number: int
        address: str

    events.listener(NewMailSent, name="never")(print)
    with pytest.raises(PayloadError, match="address"):
        Rehearsal(app).dispatch(MailSent(1))


def test_what_a_handler_dispatches_comes_after_it_at_the_made_up_time(events: Events, schedule: Schedule) -> None:
    order: list[str] = []

    @schedule.job("shop.report", "@daily")
    def report() -> None:
        events.dispatch(DigestDue("vip"))
        order.append("report")

    @events.listener(DigestDue)
    def mail(event: DigestDue) -> None:
        events.dispatch(MailSent(1))
        order.append("mail")

    @events.listener(MailSent)
    def count(event: MailSent) -> None:
        order.append("count")

    rehearsal = Rehearsal(schedule)
    rehearsal.run("shop.report", at=NIGHT)
    assert order == ["report", "mail", "count"]
    assert rehearsal.assert_ran_once(count).envelope.occurred_at == INSTANT


@pytest.mark.parametrize("eager", [False, True])
def test_what_a_test_dispatches_is_delivered_while_the_rehearsal_is_open(
    app: Celery, events: Events, eager: bool
) -> None:
    app.conf.task_always_eager = eager
    events.listener(DigestDue, name="mail")(lambda event: None)
    dispatch = events.dispatch  # as it is handed to others
    with Rehearsal(app) as rehearsal:
        envelope = dispatch(DigestDue("vip"))
    assert rehearsal.assert_ran_once("mail").envelope.id == envelope
    if eager:
        dispatch(DigestDue("late"))
        assert len(rehearsal.deliveries) == 1


def test_all_listeners_run_and_their_errors_are_raised_together(events: Events, schedule: Schedule) -> None:
    def fail(error: Exception) -> Callable[[DigestDue], None]:
        def listener(event: DigestDue) -> None:
            raise error

        return listener

    events.listener(DigestDue, name="first")(fail(KeyError("first")))
    events.listener(DigestDue, name="second")(lambda event: None)
    schedule.daily(DigestDue())
    rehearsal = Rehearsal(schedule)
    with pytest.raises(KeyError, match="first"):
        rehearsal.run("shop.digest_due", at=NIGHT)
    rehearsal.assert_ran_once("second")
    events.listener(DigestDue, name="third")(fail(OSError("third")))
    with pytest.raises(ExceptionGroup, match="2 handlers failed") as caught:
        rehearsal.dispatch(DigestDue())
    assert [str(error) for error in caught.value.exceptions] == ["'first'", "third"]


def test_an_exit_of_pytest_is_no_error_of_a_handler(events: Events, app: Celery) -> None:
    events.listener(DigestDue, name="skips")(lambda event: pytest.skip("as the handler says"))
    rehearsal = Rehearsal(app)
    with pytest.raises(pytest.skip.Exception):
        rehearsal.dispatch(DigestDue())
    events.listener(MailSent, name="goes-on")(lambda event: None)
    rehearsal.dispatch(MailSent(1))
    rehearsal.assert_ran_once("goes-on")


def test_a_stretch_of_time_runs_in_order(events: Events, schedule: Schedule) -> None:
    order: list[Any] = []
    schedule.job("late", "0 4 * * *", lambda: order.append("late"))
    schedule.daily_at("03:30", DigestDue()).job("early", "0 3 * * *", lambda: order.append("early"))
    events.listener(DigestDue, name="mail")(lambda event: order.append("mail"))
    fires = Rehearsal(schedule).run_between(*DAY)
    assert order == ["early", "mail", "late"]
    assert [fire.entry for fire in fires] == ["early", "shop.digest_due", "late"]


# What is asserted.


def test_a_listener_that_did_not_run_just_once_is_told_with_what_ran(app: Celery, events: Events) -> None:
    @events.listener(DigestDue)
    def mail(event: DigestDue) -> None: ...

    @events.listener(MailSent)
    def count(event: MailSent) -> None: ...

    rehearsal = Rehearsal(app)
    with pytest.raises(AssertionError, match=r"mail ran 0 times; this ran:\n  nothing"):
        rehearsal.assert_ran_once(mail)
    rehearsal.dispatch(DigestDue("vip"), at=NIGHT)
    rehearsal.assert_ran_once(mail, DigestDue("vip"))
    rehearsal.assert_not_run(mail, DigestDue("all"))
    rehearsal.assert_not_run(count)
    with pytest.raises(AssertionError, match=r"mail ran 1 time;"):
        rehearsal.assert_not_run(mail)
    with pytest.raises(AssertionError, match=r"mail ran 0 times with DigestDue\(audience='all', cc=\[\]\)"):
        rehearsal.assert_ran_once(mail, DigestDue("all"))
    rehearsal.dispatch(DigestDue("vip"), at=NIGHT)
    with pytest.raises(AssertionError, match=r"mail ran 2 times; this ran:\n  mail: DigestDue.*2026-10-24T23:30"):
        rehearsal.assert_ran_once(mail)


@pytest.mark.parametrize("listener", ["mial", print])
def test_a_listener_that_is_none_is_an_error(app: Celery, events: Events, listener: Any) -> None:
    events.listener(DigestDue, name="mail")(lambda event: None)
    with pytest.raises(LookupError, match=r"no listener .*; it has listener:shop\.digest_due:mail"):
        Rehearsal(app).assert_not_run(listener)


# What is rehearsed.


def test_a_module_is_rehearsed_with_what_it_is_given() -> None:
    def register(schedule: Schedule, deps: list[Any]) -> None:
        schedule.job("shop.report", "30 1 * * *", lambda fire: deps.append(fire))

    module = ModuleType("shop_jobs")
    vars(module)["register"] = register
    deps: list[Any] = []
    (fire,) = Rehearsal(Schedule().include(module, deps)).run_between("2026-03-01T00:00Z", "2026-03-02T00:00Z")
    assert deps == [fire] == [Fire(fire_id("test", "shop.report", fire.instant), "shop.report", fire.instant)]


def test_a_schedule_and_events_that_are_bound_to_no_app_go_together() -> None:
    events, schedule = Events(), Schedule()
    schedule.job("shop.report", "@daily", lambda: events.dispatch(DigestDue()))
    events.listener(DigestDue, name="mail")(lambda event: None)
    rehearsal = Rehearsal(schedule, events=events)
    rehearsal.run("shop.report", at=NIGHT)
    rehearsal.assert_ran_once("mail")


def test_the_modules_of_the_app_are_imported(app: Celery, schedule: Schedule, monkeypatch: pytest.MonkeyPatch) -> None:
    module = ModuleType("shop_tasks")
    vars(module)["register"] = lambda schedule: schedule.job("shop.report", "@daily", print)
    monkeypatch.setitem(sys.modules, "shop_tasks", module)
    schedule.autodiscover(["shop_tasks"], related_name=None)
    assert set(Rehearsal(app).entries) == {"shop.report"}


def test_an_app_without_a_name_has_to_be_given_a_namespace() -> None:
    with pytest.raises(SettingsError, match="leased_beat_namespace"):
        Rehearsal(Celery(set_as_current=False))
    with pytest.raises(ScheduleError, match="no Celery app"):
        Rehearsal("shop")  # type: ignore[arg-type]


def test_one_rehearsal_in_another_gives_the_outer_one_back(app: Celery, events: Events) -> None:
    events.listener(DigestDue, name="mail")(lambda event: None)
    with Rehearsal(app) as outer:
        with Rehearsal(app) as inner:
            events.dispatch(DigestDue())
        events.dispatch(DigestDue("vip"))
    assert [one.event for one in inner.deliveries] == [DigestDue()]
    assert [one.event for one in outer.deliveries] == [DigestDue("vip")]
