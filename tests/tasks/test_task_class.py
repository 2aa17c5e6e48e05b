"""An app's own task class, ``Celery(task_cls=...)``: our tasks run in it, as all other tasks of the app do."""

import threading
from collections.abc import Iterator
from typing import Any

import pytest
from celery import Celery
from celery.app import trace
from celery.app.task import Task

from celery_leased_beat import LeasedTask, Schedule
from tests.tasks.stage import DigestDue, Stage

#: What a handler needs around it; the worker's threads are of this process.
context = threading.local()


class RunsTheBody(Task):
    """As Flask's documentation has it."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        context.entered = True
        try:
            return self.run(*args, **kwargs)
        finally:
            context.entered = False


class AsksItsBase(Task):
    """As Flask's documentation had it."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        context.entered = True
        try:
            return super().__call__(*args, **kwargs)
        finally:
            context.entered = False


class AsksLeasedTask(LeasedTask):
    """One for tasks of the app's own that are to take effect once."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        context.entered = True
        try:
            return super().__call__(*args, **kwargs)
        finally:
            context.entered = False


def is_entered() -> bool:
    return getattr(context, "entered", False)


@pytest.fixture(params=[RunsTheBody, AsksItsBase, AsksLeasedTask])
def own_class(request: pytest.FixtureRequest) -> type[Task]:
    return request.param


@pytest.fixture
def stage(server_url: str, namespace: str, own_class: type[Task]) -> Iterator[Stage]:
    """A worker prepares Celery as its command does: else a task class could not ask its base."""
    stage = Stage(server_url, namespace, task_class=own_class)
    trace.setup_worker_optimizations(stage.app)
    yield stage
    trace.reset_worker_optimizations(stage.app)


def test_a_job_and_a_listener_run_in_it_and_are_retried(stage: Stage) -> None:
    runs: list[tuple[str, int, bool]] = []

    def run(name: str) -> None:
        attempt = 1 + sum(run[0] == name for run in runs)
        runs.append((name, attempt, is_entered()))
        if attempt == 1:
            raise ConnectionError("the first time")

    stage.schedule.job("shop.report", "@daily", lambda: run("report"), max_retries=1)
    stage.events.listener(DigestDue, name="mail", max_retries=1)(lambda digest: run("mail"))
    task_id = stage.send("job:shop.report")
    stage.send("job:shop.report", task_id=task_id)
    with stage.worker():
        stage.events.dispatch(DigestDue())
        stage.wait_idle()
    assert sorted(runs) == [("mail", 1, True), ("mail", 2, True), ("report", 1, True), ("report", 2, True)]
    assert stage.is_done(task_id)
    assert not is_entered()


def test_a_body_that_calls_its_own_task_makes_a_plain_call(stage: Stage) -> None:
    runs: list[bool] = []

    def report() -> None:
        runs.append(is_entered())
        if len(runs) == 1:
            stage.app.tasks["job:shop.report"]()

    stage.schedule.job("shop.report", "@daily", report)
    task_id = stage.send("job:shop.report")
    with stage.worker():
        stage.wait_idle()
    assert runs == [True, True]
    assert stage.is_done(task_id)


def test_it_is_there_where_tasks_run_in_place(stage: Stage) -> None:
    entered: list[bool] = []
    stage.app.conf.task_always_eager = True
    stage.events.listener(DigestDue, name="mail")(lambda digest: entered.append(is_entered()))
    stage.events.dispatch(DigestDue())
    assert entered == [True]


def test_it_is_not_imported_before_celery_makes_the_tasks() -> None:
    app = Celery("shop", broker="memory://", task_cls="no.such.module:Task", set_as_current=False)
    Schedule(app).job("shop.report", "@daily", print)
    with pytest.raises(ModuleNotFoundError):
        app.finalize()
