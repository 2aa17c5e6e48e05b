"""``current_fire()``: any task can ask which fire it was sent for."""

from datetime import datetime
from typing import Any

import pytest
from celery import Task

from celery_leased_beat import Fire, LeasedTask, current_fire
from tests.tasks.stage import DigestDue, Stage

INSTANT = datetime.fromisoformat("2026-03-01T06:30Z")


@pytest.mark.parametrize("base", [Task, LeasedTask])
def test_a_plain_task_is_told_its_fire_and_its_attempt(stage: Stage, base: type[Task]) -> None:
    fires: list[Fire | None] = []

    @stage.app.task(base=base, name="plain", shared=False, bind=True, max_retries=1)
    def plain(self: Any) -> None:
        fires.append(current_fire())
        if len(fires) == 1:
            self.retry(countdown=0)

    with stage.worker():
        task_id = stage.send("plain", entry="nightly")
        stage.wait_idle()
    assert fires == [Fire(task_id, "nightly", INSTANT, 1), Fire(task_id, "nightly", INSTANT, 2)]


def test_a_function_that_the_task_calls_may_ask_too(stage: Stage) -> None:
    fires: list[Fire | None] = []

    @stage.app.task(name="helper", shared=False)
    def helper() -> None:
        fires.append(current_fire())

    @stage.app.task(name="plain", shared=False)
    def plain() -> None:
        helper()  # a plain call
        helper.apply()  # a task of its own, run in place

    with stage.worker():
        task_id = stage.send("plain")
        stage.wait_idle()
    assert [fire and fire.id for fire in fires] == [task_id, None]


def test_what_no_scheduler_sent_has_no_fire(stage: Stage) -> None:
    fires: list[Fire | None] = [current_fire()]

    @stage.app.task(name="plain", shared=False)
    def plain() -> None:
        fires.append(current_fire())

    stage.events.listener(DigestDue, name="mail")(lambda digest: fires.append(current_fire()))
    with stage.worker():
        plain.delay()
        stage.events.dispatch(DigestDue())
        stage.wait_idle()
    plain()
    plain.apply()
    assert fires == [None] * 5
