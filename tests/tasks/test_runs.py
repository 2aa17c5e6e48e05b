"""One run at a time, one effect per task id: what a message meets at its start, and how a run ends."""

import logging
import threading
import time
from datetime import UTC, datetime, timedelta

import pytest
from celery.exceptions import Ignore, Reject

from celery_leased_beat import Fire, LeasedTask
from celery_leased_beat.errors import PayloadError
from celery_leased_beat.tasks import HandlerTask
from examples.valkey import Server
from tests.nodes.waiting import wait_until
from tests.tasks.stage import REPORT, Body, DigestDue, Stage


def test_a_second_delivery_of_a_fire_is_dropped_with_one_debug_line(
    stage: Stage, caplog: pytest.LogCaptureFixture
) -> None:
    runs: list[Fire] = []
    stage.schedule.job("shop.report", "@daily", lambda fire: runs.append(fire))
    task_id = stage.send(REPORT)
    stage.send(REPORT, task_id=task_id)
    with caplog.at_level(logging.DEBUG, "celery_leased_beat"), stage.worker():
        stage.wait_idle()
    assert len(runs) == 1
    lines = [record for record in caplog.records if record.name.startswith("celery_leased_beat.tasks")]
    assert [(line.levelno, task_id in line.getMessage()) for line in lines] == [(logging.DEBUG, True)]


def test_what_comes_after_the_end_is_dropped(stage: Stage) -> None:
    runs: list[int] = []
    stage.schedule.job("shop.report", "@daily", lambda: runs.append(1))
    task_id = stage.send(REPORT, delivery="one")
    with stage.worker():
        stage.wait_idle()
        assert stage.is_done(task_id)
        stage.send(REPORT, delivery="one", task_id=task_id)
        stage.wait_idle()
    assert runs == [1]


def test_a_redelivery_is_put_off_while_its_body_runs(stage: Stage) -> None:
    body = Body(stage)
    task_id = stage.send(REPORT, delivery="one")
    with stage.worker():
        body.wait_begun()
        first = stage.unacknowledged()
        stage.send(REPORT, delivery="one", task_id=task_id)
        wait_until(lambda: _waiting(stage), "the second message was sent again with a countdown")
        (again,) = _waiting(stage)
        body.go_on.set()
        wait_until(lambda: stage.unacknowledged() == [again], "all but the message that is put off are acknowledged")
        assert stage.is_done(task_id)
    assert body.begun == [1]
    assert len(first) == 1
    same = ("id", "task", "retries", "leased_beat", "root_id")
    assert {name: again["headers"][name] for name in same} == {name: first[0]["headers"][name] for name in same}
    assert again["body"] == first[0]["body"]


def _waiting(stage: Stage) -> list[dict[str, object]]:
    return [message for message in stage.unacknowledged() if message["headers"]["eta"]]


def test_a_run_whose_hold_ran_out_is_taken_over(stage: Stage) -> None:
    runs: list[Fire] = []
    stage.schedule.job("shop.report", "@daily", lambda fire: runs.append(fire))
    stage.markers(hold=timedelta(seconds=1)).start("one", "delivery", "a run of a worker that died", 0)
    with stage.worker():
        stage.send(REPORT, delivery="delivery", task_id="one")
        wait_until(lambda: stage.is_done("one"), "the task is done")
        stage.wait_idle()
    assert [fire.attempt for fire in runs] == [1]


def test_a_hold_is_renewed_while_the_body_runs(stage: Stage) -> None:
    go_on = threading.Event()
    stage.schedule.job("shop.report", "@daily", lambda: go_on.wait(30))
    task_id = stage.send(REPORT)
    with stage.worker():
        held = wait_until(lambda: stage.marker(task_id).get("hold"), "the marker is held")
        wait_until(lambda: int(stage.marker(task_id)["hold"]) > int(held), "the hold was renewed", 10)
        go_on.set()
        stage.wait_idle()


def test_of_fires_that_waited_for_a_worker_those_that_expired_do_not_run(stage: Stage) -> None:
    runs: list[Fire] = []
    stage.schedule.job("shop.report", "@every 1m", runs.append)
    for _ in range(9):
        stage.send(REPORT, expires=0.3)
    expired = time.monotonic() + 0.5
    wait_until(lambda: time.monotonic() > expired, "nobody works for longer than they may wait")
    last = stage.send(REPORT, expires=60)
    with stage.worker():
        wait_until(lambda: stage.is_done(last), "the last one is done")
        stage.wait_idle()
    assert [fire.id for fire in runs] == [last]


def test_a_task_that_was_started_too_often_ends_as_failed(stage: Stage, caplog: pytest.LogCaptureFixture) -> None:
    runs: list[int] = []
    stage.schedule.job("shop.report", "@daily", lambda: runs.append(1))
    for number in range(5):
        stage.markers(hold=timedelta(milliseconds=1)).start("one", "delivery", f"run {number} kills its worker", 0)
        wait_until(lambda: _hold_is_over(stage), "its hold is over")
    with stage.worker():
        stage.send(REPORT, delivery="delivery", task_id="one")
        stage.wait_idle()
    assert runs == []
    assert stage.is_done("one")
    errors = [record.getMessage() for record in caplog.records if record.levelno == logging.ERROR]
    assert any("one" in error and "started too often" in error for error in errors)


def _hold_is_over(stage: Stage) -> bool:
    seconds, microseconds = stage.client.time()
    return int(stage.marker("one")["hold"]) < seconds * 1000 + microseconds // 1000


def test_a_handler_is_told_its_fire_and_its_attempt(stage: Stage) -> None:
    fires: list[Fire] = []

    def fail_once(fire: Fire) -> None:
        fires.append(fire)
        if fire.attempt == 1:
            raise ValueError("once")

    stage.schedule.job("shop.report", "@daily", fail_once)
    task_id = stage.send(REPORT)
    with stage.worker():
        wait_until(lambda: stage.is_done(task_id), "the task is done")
    instant = datetime(2026, 3, 1, 6, 30, tzinfo=UTC)
    assert fires == [Fire(task_id, "entry", instant, 1), Fire(task_id, "entry", instant, 2)]


def test_a_message_without_our_header_runs(stage: Stage) -> None:
    fires: list[Fire] = []
    stage.schedule.job("shop.report", "@daily", lambda fire: fires.append(fire))
    stage.app.send_task(REPORT, task_id="by hand")
    with stage.worker():
        stage.wait_idle()
    (fire,) = fires
    assert (fire.id, fire.entry) == ("by hand", "shop.report")
    assert abs(datetime.now(UTC) - fire.instant) < timedelta(minutes=1)


def test_a_payload_error_ends_a_task_without_retries(stage: Stage) -> None:
    runs: list[int] = []

    def body() -> None:
        runs.append(1)
        raise PayloadError("payload.audience: is missing")

    stage.schedule.job("shop.report", "@daily", body)
    task_id = stage.send(REPORT)
    with stage.worker():
        stage.wait_idle()
    assert runs == [1]
    assert stage.is_done(task_id)


def test_a_task_that_fails_for_good_is_done(stage: Stage) -> None:
    attempts: list[int] = []

    def body(fire: Fire) -> None:
        attempts.append(fire.attempt)
        raise ValueError("always")

    stage.schedule.job("shop.report", "@daily", body, max_retries=2)
    task_id = stage.send(REPORT)
    with stage.worker():
        wait_until(lambda: stage.is_done(task_id), "the task is done")
        stage.wait_idle()
    assert attempts == [1, 2, 3]


def test_a_retry_that_the_broker_refuses_is_published_until_it_takes_it(stage: Stage) -> None:
    attempts: list[int] = []

    def fail_once(fire: Fire) -> None:
        attempts.append(fire.attempt)
        if fire.attempt == 1:
            raise ValueError("once")

    stage.schedule.job("shop.report", "@daily", fail_once)
    task_id = stage.send(REPORT)
    tried = stage.refuse(REPORT, times=2)
    with stage.worker():
        wait_until(lambda: stage.is_done(task_id), "the task is done")
        stage.wait_idle()
    assert tried() == 3
    assert attempts == [1, 2]


def test_a_retry_whose_publish_fails_is_requeued(stage: Stage) -> None:
    attempts: list[int] = []

    @stage.app.task(base=HandlerTask, name="plain", shared=False, bind=True, publish_patience=0)
    def fail_twice(self: HandlerTask) -> None:
        attempts.append(self.request.retries)
        if len(attempts) < 3:
            raise ValueError("twice")

    task_id = stage.send("plain")
    tried = stage.refuse("plain", times=1)
    with stage.worker():
        wait_until(lambda: stage.is_done(task_id), "the task is done")
        stage.wait_idle()
    assert tried() == 2
    assert attempts == [0, 0, 1], "the attempt whose retry was refused is made again, and none is lost"


def test_a_message_that_cannot_be_put_off_is_requeued(stage: Stage) -> None:
    runs: list[int] = []

    @stage.app.task(base=LeasedTask, name="plain", shared=False, publish_patience=0)
    def plain() -> None:
        runs.append(1)

    stage.send("plain", delivery="delivery", task_id="one")
    tried = stage.refuse("plain", times=1)
    stage.markers(hold=timedelta(seconds=3)).start("one", "delivery", "a run elsewhere", 0)
    with stage.worker():
        wait_until(lambda: stage.is_done("one"), "the task is done")
        stage.wait_idle()
    assert tried() >= 2
    assert runs == [1]


@pytest.mark.parametrize(("ending", "state"), [(Ignore(), "done"), (Reject(requeue=False), "done")])
def test_a_body_may_end_its_task_as_celery_lets_it(stage: Stage, ending: Exception, state: str) -> None:
    @stage.app.task(base=LeasedTask, name="plain", shared=False)
    def plain() -> None:
        raise ending

    task_id = stage.send("plain")
    with stage.worker():
        wait_until(lambda: stage.marker(task_id).get("state") == state, f"the marker is {state}")
        stage.wait_idle()


def test_a_plain_task_of_our_class_takes_effect_once(stage: Stage) -> None:
    runs: list[tuple[int, int]] = []

    @stage.app.task(base=LeasedTask, name="plain", shared=False, bind=True)
    def plain(self: LeasedTask, number: int, again: bool = True) -> int:
        runs.append((self.request.retries, number))
        if again:
            assert self(number + 1, again=False) == number + 1, "a call out of the body is a plain call"
            if self.request.retries == 0:
                raise self.retry(countdown=0)
        return number

    task_id = stage.send("plain", args=[1])
    stage.send("plain", args=[1], task_id=task_id)
    with stage.worker():
        wait_until(lambda: stage.is_done(task_id), "the task is done")
        stage.wait_idle()
    assert runs == [(0, 1), (0, 2), (1, 1), (1, 2)]


def test_a_body_that_sends_its_message_again_and_goes_on_is_not_over(stage: Stage) -> None:
    ends: list[int] = []

    @stage.app.task(base=LeasedTask, name="plain", shared=False, bind=True)
    def plain(self: LeasedTask) -> None:
        if self.request.retries == 0:
            self.retry(countdown=1, throw=False)
        ends.append(self.request.retries)

    task_id = stage.send("plain")
    with stage.worker():
        wait_until(lambda: stage.is_done(task_id), "the task is done")
    assert ends == [0, 1]


def told(caplog: pytest.LogCaptureFixture, *lines: str) -> list[int]:
    """How often each of these parts of a line was logged."""
    return [sum(line in message for message in caplog.messages) for line in lines]


def test_a_start_without_an_answer_is_put_off_and_uses_up_no_attempt(
    server_url: str, namespace: str, caplog: pytest.LogCaptureFixture
) -> None:
    with Server() as lease:
        stage = Stage(server_url, namespace, backend=lease.url)
        fires: list[Fire] = []
        stage.schedule.job("shop.report", "@daily", lambda fire: fires.append(fire))
        lease.stop()
        task_id = stage.send(REPORT)
        with stage.worker():
            wait_until(lambda: _waiting(stage), "the message is put off")
            assert fires == []
            assert told(caplog, "no task can start", "answers again, tasks start") == [1, 0]
            lease.start()
            wait_until(lambda: stage.is_done(task_id), "the task is done")
        assert [fire.attempt for fire in fires] == [1]
        assert told(caplog, "no task can start", "answers again, tasks start") == [1, 1]


def test_an_end_that_cannot_be_written_is_written_later_and_the_body_runs_once(
    server_url: str, namespace: str, caplog: pytest.LogCaptureFixture
) -> None:
    with Server() as lease:
        stage = Stage(server_url, namespace, backend=lease.url)
        body = Body(stage)
        task_id = stage.send(REPORT, delivery="one")
        with stage.worker():
            body.wait_begun()
            lease.stop()
            body.go_on.set()
            stage.wait_idle()
            assert told(caplog, f"the end of a run of task {task_id} could not be written") == [1]
            lease.start()
            wait_until(lambda: stage.is_done(task_id), "the end is written")
            stage.send(REPORT, delivery="one", task_id=task_id)
            stage.wait_idle()
        assert body.begun == [1]


def test_a_listener_with_a_payload_that_does_not_fit_is_not_retried(stage: Stage) -> None:
    runs: list[DigestDue] = []
    stage.events.listener(DigestDue, name="mail")(lambda digest: runs.append(digest))
    envelope = {
        "id": "e", "name": "shop.digest_due", "payload": {"audience": 7}, "occurred_at": "2026-03-01T06:30:00+00:00",
    }  # fmt: skip
    task_id = stage.send("listener:shop.digest_due:mail", kwargs={"envelope": envelope})
    with stage.worker():
        stage.wait_idle()
    assert runs == []
    assert stage.is_done(task_id)
