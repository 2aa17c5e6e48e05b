"""A message that comes again: too early, many times at once, and after its marker was lost with the server's data."""

from collections.abc import Iterator

import pytest
import redis

from examples.valkey import Server
from tests.nodes.redelivery import restoring
from tests.nodes.waiting import wait_until
from tests.tasks.stage import REPORT, Body, Stage

#: Seconds; shorter than a body.
VISIBILITY_TIMEOUT = 2.0
#: In so many seconds a message has come again, on a busy machine.
COMES_AGAIN = 60.0


def test_a_visibility_timeout_that_is_shorter_than_the_body_does_not_run_it_twice(
    server_url: str, namespace: str
) -> None:
    options = {"visibility_timeout": VISIBILITY_TIMEOUT}
    stage = Stage(server_url, namespace, settings={"broker_transport_options": options})
    body = Body(stage)
    task_id = stage.send(REPORT)
    with restoring(server_url, VISIBILITY_TIMEOUT), stage.worker():
        body.wait_begun()
        wait_until(lambda: _put_off(stage), "it was delivered again and put off", COMES_AGAIN)
        body.go_on.set()
        wait_until(lambda: stage.is_done(task_id), "the task is done")
        wait_until(lambda: not stage.messages() and not stage.unacknowledged(), "no message is left", COMES_AGAIN)
    assert (len(body.begun), len(body.ended)) == (1, 1)


def test_one_message_in_many_copies_at_the_same_time_runs_once(stage: Stage) -> None:
    body = Body(stage)
    for _ in range(8):
        stage.send(REPORT, delivery="one", task_id="one")
    with stage.worker(concurrency=8):
        body.wait_begun()
        wait_until(lambda: len(_put_off(stage)) == 7, "all the others are put off")
        body.go_on.set()
        wait_until(lambda: stage.is_done("one"), "the task is done")
    assert (len(body.begun), len(body.ended)) == (1, 1)


class TestALostMarker:
    """The lease's server loses its data between the work and the marker's end."""

    @pytest.fixture
    def stage(self, server_url: str, namespace: str) -> Iterator[Stage]:
        with Server() as lease:
            yield Stage(server_url, namespace, backend=lease.url)

    def test_it_is_told_and_the_end_is_written_all_the_same(
        self, stage: Stage, caplog: pytest.LogCaptureFixture
    ) -> None:
        body = Body(stage)
        task_id = stage.send(REPORT, delivery="one")
        with stage.worker():
            body.wait_begun()
            _lose_data(stage)
            lost = f"task {task_id} has lost its marker while it runs"
            wait_until(lambda: lost in caplog.text, "the next renewal tells of it")
            body.go_on.set()
            wait_until(lambda: stage.is_done(task_id), "the end is written")
            stage.send(REPORT, delivery="one", task_id=task_id)
            stage.wait_idle()
        assert (len(body.begun), len(body.ended)) == (1, 1)
        assert caplog.text.count(lost) == 1

    def test_the_limit_a_copy_that_comes_before_the_end_runs_too(self, stage: Stage) -> None:
        body = Body(stage)
        task_id = stage.send(REPORT, delivery="one")
        with stage.worker():
            body.wait_begun()
            _lose_data(stage)
            stage.send(REPORT, delivery="one", task_id=task_id)
            body.wait_begun(2)
            body.go_on.set()
            stage.wait_idle()
            wait_until(lambda: stage.is_done(task_id), "the task is done")
        assert len(body.ended) == 2

    def test_the_limit_a_copy_that_comes_after_a_lost_end_runs_again(self, stage: Stage) -> None:
        body = Body(stage)
        body.go_on.set()
        task_id = stage.send(REPORT, delivery="one")
        with stage.worker():
            wait_until(lambda: stage.is_done(task_id), "the task is done")
            _lose_data(stage)
            stage.send(REPORT, delivery="one", task_id=task_id)
            wait_until(lambda: stage.is_done(task_id), "the task is done again")
            stage.wait_idle()
        assert len(body.ended) == 2


def _put_off(stage: Stage) -> list[object]:
    return [message for message in stage.unacknowledged() if message["headers"]["eta"]]


def _lose_data(stage: Stage) -> None:
    with redis.Redis.from_url(stage.backend) as lease:
        lease.flushall()
