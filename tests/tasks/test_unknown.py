"""A message of ours whose task a worker does not know: a deploy is under way."""

import logging
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any

import pytest

from celery_leased_beat.tasks import PUT_OFF, put_off_unknown
from tests.nodes.waiting import wait_until
from tests.tasks.stage import DigestDue, Stage


def test_an_unknown_task_of_ours_waits_for_a_worker_that_knows_it(
    server_url: str, namespace: str, caplog: pytest.LogCaptureFixture
) -> None:
    behind, ahead = Stage(server_url, namespace), Stage(server_url, namespace)
    runs: list[Any] = []
    ahead.schedule.job("shop.report", "@daily", lambda fire: runs.append(fire))
    task_id = behind.send("job:shop.report", delivery="one")
    with behind.worker():
        (waiting,) = wait_until(lambda: _of(behind, PUT_OFF), "the message is put off")
        assert waiting["headers"]["eta"]
        assert f"its message {task_id} is put off: a worker that knows it may come" in caplog.text
    with ahead.worker():
        wait_until(lambda: ahead.is_done(task_id), "the task is done")
        ahead.wait_idle()
    (fire,) = runs
    assert (fire.id, fire.entry, fire.attempt) == (task_id, "entry", 1)
    assert ahead.marker(task_id)["delivery"] == "one"


def test_the_listener_of_another_deploy_waits_too(server_url: str, namespace: str) -> None:
    behind = Stage(server_url, namespace)
    behind.events.listener(DigestDue, name="mail")(lambda digest: None)
    behind.app.send_task("listener:shop.digest_due:sms", kwargs={"envelope": {}})
    with behind.worker():
        wait_until(lambda: _of(behind, PUT_OFF), "the message is put off")


def test_an_unknown_task_of_others_is_left_to_celery(stage: Stage) -> None:
    stage.app.send_task("somebody.elses")
    with stage.worker():
        stage.wait_idle()
    assert not _of(stage, PUT_OFF)


def test_a_message_that_nobody_took_for_a_markers_life_is_dropped(
    stage: Stage, caplog: pytest.LogCaptureFixture
) -> None:
    for hours in (7, 5):
        first = datetime.now(UTC) - timedelta(hours=hours)
        headers = {"id": f"after {hours} hours", "leased_beat": {"delivery": "one", "unknown": first.isoformat()}}
        message = SimpleNamespace(headers=headers, payload=[[], {}, {}], properties={}, delivery_info={})
        put_off_unknown(SimpleNamespace(app=stage.app), message=message, name="job:shop.report")
    (waiting,) = stage.messages()
    assert "after 5 hours" in waiting["headers"]["kwargsrepr"]
    (error,) = (record.getMessage() for record in caplog.records if record.levelno == logging.ERROR)
    assert "after 7 hours" in error


def test_no_message_waits_for_longer_than_it_stays_invisible(stage: Stage) -> None:
    stage.app.conf.broker_transport_options = {"visibility_timeout": 30}
    first = datetime.now(UTC) - timedelta(hours=1)
    headers = {"id": "old", "leased_beat": {"delivery": "one", "unknown": first.isoformat()}}
    message = SimpleNamespace(headers=headers, payload=[[], {}, {}], properties={}, delivery_info={})
    put_off_unknown(SimpleNamespace(app=stage.app), message=message, name="job:shop.report")
    (waiting,) = stage.messages()
    assert datetime.fromisoformat(waiting["headers"]["eta"]) <= datetime.now(UTC) + timedelta(seconds=10)


def _of(stage: Stage, task: str) -> list[dict[str, Any]]:
    return [message for message in stage.unacknowledged() if message["headers"]["task"] == task]
