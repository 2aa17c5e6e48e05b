"""Where a schedule and listeners meet an app: whatever comes first, and without reading a setting."""

import gc
import sys
import weakref
from functools import partial
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from celery import Celery, signals

import celery_leased_beat
from celery_leased_beat import Events, LeasedTask, Runner, Schedule, Scheduler
from celery_leased_beat.binding import registry, schedule_for
from celery_leased_beat.errors import (
    DuplicateNameError,
    EventError,
    LeasedBeatError,
    OptionError,
    ScheduleError,
    SettingsError,
)
from celery_leased_beat.schedule import ScheduleBuilder
from celery_leased_beat.testing import Rehearsal
from celery_leased_beat.worker import RunnerStep
from tests.tasks.stage import DigestDue

TRIGGER, DISPATCH, MAIL = "schedule:shop.digest_due", "event:shop.digest_due", "listener:shop.digest_due:mail"


def new_app(**settings: Any) -> Celery:
    return Celery("shop", broker="redis://127.0.0.1:1/0", set_as_current=False, **settings)


def ours(app: Celery) -> set[str]:
    return {name for name in app.tasks if ":" in name}


@pytest.mark.parametrize("order", ["app first", "app last", "app finalized"])
def test_tasks_are_registered_whatever_comes_first(order: str) -> None:
    app = new_app()
    if order == "app finalized":
        app.finalize()
    events, schedule = (Events(), Schedule()) if order == "app last" else (Events(app), Schedule(app))
    events.listener(DigestDue, name="mail")(print)
    schedule.daily(DigestDue()).job("shop.report", "@daily", lambda: None)
    events.init_app(app)
    schedule.init_app(app)
    assert ours(app) == {TRIGGER, DISPATCH, MAIL, "job:shop.report"}


def test_tasks_are_registered_for_their_own_app_alone() -> None:
    app, other = new_app(), new_app()
    Schedule(app).job("shop.report", "@daily", lambda: None)
    other.finalize()
    assert ours(app) == {"job:shop.report"}
    assert ours(other) == set()


def test_the_trigger_of_an_event_is_known_without_a_schedule_and_without_a_listener() -> None:
    listening, scheduling = new_app(), new_app()
    Events(listening).listener(DigestDue, name="mail")(print)
    Schedule(scheduling).daily(DigestDue()).hourly(DigestDue(), name="again")
    assert ours(listening) == {TRIGGER, DISPATCH, MAIL}
    assert ours(scheduling) == {TRIGGER}


def test_the_options_of_a_task_are_on_the_task() -> None:
    app = new_app(task_serializer="pickle", task_acks_late=False)
    Schedule(app).job("shop.report", "@daily", lambda: None, timeout=60, max_retries=3)
    Events(app).listener(DigestDue, name="mail", queue="mail", acks_late=False)(print)
    report, mail = app.tasks["job:shop.report"], app.tasks[MAIL]
    assert (report.soft_time_limit, report.time_limit, report.max_retries) == (60, 90, 3)
    assert (report.acks_late, report.reject_on_worker_lost, report.serializer) == (True, True, "json")
    assert (mail.max_retries, mail.acks_late) == (25, False)
    assert not hasattr(mail, "queue"), "a queue belongs to the message, whose sender may not know the task"


@pytest.mark.parametrize("handler", [lambda: None, partial(print, "x"), [].clear, SimpleNamespace(f=print).f])
def test_any_callable_is_a_handler(handler: Any) -> None:
    app = new_app()
    Schedule(app).job("shop.report", "@daily", handler)
    assert ours(app) == {"job:shop.report"}


def test_a_celery_task_is_no_task_of_ours() -> None:
    app = new_app()

    @app.task(name="shop.tasks.report", shared=False)
    def report() -> None: ...

    schedule = Schedule(app).job("shop.report", "@daily", report)
    assert ours(app) == set()
    assert schedule.entries["shop.report"].task == "shop.tasks.report"


def test_binding_reads_no_setting_and_leaves_the_configuration_alone() -> None:
    app = Celery("shop", set_as_current=False)
    app.config_from_object("no.such.module")
    Schedule(app).daily(DigestDue()).job("shop.report", "@daily", lambda: None)
    Events(app).listener(DigestDue, name="mail")(print)
    assert not app.configured
    assert not app.finalized


def test_a_second_schedule_or_other_events_for_one_app_are_an_error() -> None:
    app = new_app()
    schedule, events = Schedule(app), Events(app)
    assert schedule.init_app(app) is schedule
    assert events.init_app(app) is events
    with pytest.raises(ScheduleError, match="has a Schedule already"):
        Schedule(app)
    with pytest.raises(ScheduleError, match="has its Events already"):
        Events(app)


def test_what_is_no_celery_app_is_refused() -> None:
    with pytest.raises(ScheduleError, match="is no Celery app"):
        Schedule(SimpleNamespace())  # type: ignore[arg-type]


def test_an_app_that_nobody_holds_is_forgotten() -> None:
    app = new_app()
    schedule = Schedule(app).job("shop.report", "@daily", print)
    gone = weakref.ref(app)
    del app
    gc.collect()
    assert gone() is None
    schedule.job("shop.other", "@daily", print)


def test_a_decorated_handler_stays_what_it_was() -> None:
    def handler(digest: DigestDue) -> None: ...

    assert Events().listener(DigestDue)(handler) is handler


@pytest.mark.parametrize(
    ("options", "error"),
    [({"max_retry": 3}, OptionError), ({"grace": 3}, OptionError), ({"name": "a:b"}, ScheduleError)],
)
def test_a_mistake_in_a_listener_is_an_error_where_it_was_written(options: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        Events().listener(DigestDue, **options)


def test_two_listeners_of_one_name_are_an_error() -> None:
    events = Events()
    events.listener(DigestDue, name="mail")(print)
    with pytest.raises(DuplicateNameError, match="mail"):
        events.listener(DigestDue, name="mail")(print)


def test_a_dispatch_that_cannot_be_is_an_error() -> None:
    with pytest.raises(ScheduleError, match="init_app"):
        Events().dispatch(DigestDue())
    events = Events(new_app())
    with pytest.raises(EventError):
        events.dispatch("shop.digest_due")
    with pytest.raises(OptionError, match="max_retries"):
        events.dispatch(DigestDue(), max_retries=3)  # type: ignore[call-arg]


def test_the_class_of_our_tasks_serves_tasks_of_ones_own() -> None:
    app = new_app()

    @app.task(base=LeasedTask, shared=False)
    def double(number: int) -> int:
        return 2 * number

    assert double(2) == 4
    assert double.apply(args=(2,)).get() == 4
    assert double.acks_late


# -- autodiscover ----------------------------------------------------------------------------------------------------


@pytest.fixture
def shop(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """A package ``shop_package`` with a module ``jobs``; the list gets the deps with which it was registered."""
    calls: list[Any] = []

    def register(schedule: Schedule, deps: Any = None) -> None:
        calls.append(deps)
        schedule.job("shop.report", "@daily", lambda: None)

    for name in ("shop_package", "shop_package.jobs", "bare_package", "bare_package.jobs"):
        module = ModuleType(name)
        module.__path__ = []
        monkeypatch.setitem(sys.modules, name, module)
    sys.modules["shop_package.jobs"].register = register  # type: ignore[attr-defined]
    return calls


def import_modules(app: Celery) -> None:
    """What ``beat`` and ``worker`` do at their start."""
    app.loader.import_default_modules()


@pytest.mark.parametrize("packages", [["shop_package", "bare_package"], lambda: ["shop_package"]])
@pytest.mark.parametrize("order", ["bound first", "bound last"])
def test_modules_are_found_when_the_app_imports_its_own(shop: list[Any], packages: Any, order: str) -> None:
    app = new_app()
    schedule = Schedule(app) if order == "bound first" else Schedule()
    schedule.autodiscover(packages, deps=lambda: "deps")
    schedule.init_app(app)
    assert shop == []
    import_modules(app)
    import_modules(app)
    assert shop == ["deps"]
    assert ours(app) == {"job:shop.report"}


def test_djangos_installed_apps_are_the_default(shop: list[Any]) -> None:
    app = new_app()
    app._fixups.append(SimpleNamespace(autodiscover_tasks=lambda: ["shop_package"]))
    Schedule(app).autodiscover()
    import_modules(app)
    assert shop == [None]


def test_without_packages_and_without_django_there_is_nothing_to_find() -> None:
    app = new_app()
    Schedule(app).autodiscover()
    with pytest.raises(ScheduleError, match="Django"):
        import_modules(app)


def test_modules_are_found_for_an_app_that_lies_where_one_was_that_is_gone(shop: list[Any]) -> None:
    app = new_app()
    Schedule(app).autodiscover([])
    del registry.schedules[app]  # as if it were another one: signals know it by its address
    Schedule(app).autodiscover(["shop_package"])
    import_modules(app)
    assert shop == [None]


def test_an_error_in_a_module_ends_the_start(shop: list[Any]) -> None:
    app = new_app()
    Schedule(app).job("shop.report", "@daily", lambda: None).autodiscover(["shop_package"])
    with pytest.raises(DuplicateNameError):
        import_modules(app)


def test_a_package_that_is_no_list_is_refused() -> None:
    with pytest.raises(ScheduleError, match=r"\['shop'\]"):
        Schedule().autodiscover("shop")


def test_the_import_of_another_app_finds_nothing(shop: list[Any]) -> None:
    Schedule(new_app()).autodiscover(["shop_package"])
    signals.import_modules.send(sender=new_app())
    assert shop == []


# -- from the app to its schedule ------------------------------------------------------------------------------------


def test_the_schedule_of_an_app_is_the_one_that_is_bound() -> None:
    app = new_app()
    schedule = Schedule(app)
    assert schedule_for(app) is schedule


def test_an_app_without_a_schedule_has_an_empty_one() -> None:
    assert not schedule_for(new_app()).entries


def test_a_schedule_may_be_named_by_its_path(shop: list[Any]) -> None:
    app = new_app(leased_beat_schedule="shop_package.jobs.schedule")
    sys.modules["shop_package.jobs"].schedule = Schedule().job("shop.report", "@daily", print)  # type: ignore[attr-defined]
    assert isinstance(schedule_for(app), ScheduleBuilder)
    assert ours(app) == {"job:shop.report"}
    bound = new_app(leased_beat_schedule="shop_package.jobs.schedule")
    Schedule(bound)
    with pytest.raises(SettingsError, match="another Schedule"):
        schedule_for(bound)


def test_a_worker_knows_the_tasks_of_a_schedule_that_is_named_by_its_path(shop: list[Any]) -> None:
    app = new_app(leased_beat_schedule="shop_package.jobs.schedule")
    sys.modules["shop_package.jobs"].schedule = Schedule().job("shop.report", "@daily", print)  # type: ignore[attr-defined]
    app.loader.import_default_modules()
    assert ours(app) == {"job:shop.report"}
    assert "celery_leased_beat.worker:RunnerStep" in app.steps["worker"]


def test_a_path_that_leads_nowhere_is_said_where_the_app_imports_its_modules(caplog: pytest.LogCaptureFixture) -> None:
    new_app(leased_beat_schedule="no.such.module").loader.import_default_modules()
    assert "no.such.module" in caplog.text


@pytest.mark.parametrize(
    "path", ["no.such.module", "shop_package.jobs.nothing", "tests.core.plugins.imports_nothing.schedule"]
)
def test_a_path_that_leads_nowhere_is_an_error(shop: list[Any], path: str) -> None:
    with pytest.raises(SettingsError, match=path):
        schedule_for(new_app(leased_beat_schedule=path))


# -- the package -----------------------------------------------------------------------------------------------------


def test_each_public_name_is_there() -> None:
    for name in celery_leased_beat.__all__:
        assert getattr(celery_leased_beat, name) is not None
    assert issubclass(SettingsError, LeasedBeatError)
    with pytest.raises(AttributeError):
        _ = celery_leased_beat.nothing


def test_a_job_without_a_handler_ends_the_start_of_each_who_reads_the_schedule() -> None:
    app = new_app()
    Schedule(app).job("shop.nothing", "@daily")
    with pytest.raises(ScheduleError, match="has no handler"):
        Runner(app)
    with pytest.raises(SystemExit, match=r"celery_leased_beat: the job 'shop.nothing' of .* has no handler"):
        Scheduler(app, lazy=True)
    with pytest.raises(SystemExit, match=r"celery_leased_beat: the job 'shop.nothing' of .* has no handler"):
        RunnerStep(SimpleNamespace(app=app)).start(SimpleNamespace(app=app))
    with pytest.raises(ScheduleError, match="has no handler"):
        Rehearsal(app).entries  # noqa: B018
