"""A worker with child processes: some that are killed, a soft time limit, and connections that are cut.

All of them take the length of a hold or more, so they share it, and one worker.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest

from examples.valkey import Server
from tests.nodes.process import LocalProcess
from tests.nodes.waiting import wait_until
from tests.tasks.stage import Stage


@pytest.fixture(scope="module")
def prefork(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    """The stage of a worker whose connections were all cut while it ran one body, and that then got two more."""
    with Server() as server:
        stage = Stage(server.url, "prefork")
        worker = _worker(tmp_path_factory.mktemp("prefork"), PREFORK_URL=server.url)
        try:
            worker.ready()
            stage.send("job:cut", task_id="cut", entry="cut")
            wait_until(lambda: "cut 1 began" in _runs(stage), "the body runs")
            stage.client.execute_command("CLIENT", "KILL", "TYPE", "NORMAL", "SKIPME", "YES")
            wait_until(lambda: worker.logs().count("job:cut[cut] received") > 1, "its message is delivered again")
            for entry in ("slow", "kills", "deadly"):
                stage.send(f"job:{entry}", task_id=entry, entry=entry)
            yield stage
        finally:
            worker.teardown()


def _worker(folder: Path, **environment: str) -> LocalProcess:
    return LocalProcess.celery(
        "worker", "-A", "tests.tasks.prefork", "worker", "-l", "INFO", "-c", "4", "--without-gossip",
        "--without-mingle", folder=folder, prompt=" ready.", environment=environment,
    )  # fmt: skip


def _runs(stage: Stage, entry: str = "") -> list[str]:
    return [run for run in stage.client.lrange("runs", 0, -1) if run.startswith(entry)]


def test_a_body_that_is_over_its_soft_limit_is_retried(prefork: Stage) -> None:
    wait_until(lambda: "slow 2 ended" in _runs(prefork), "the second attempt ended")
    assert _runs(prefork, "slow") == ["slow 1 began", "slow 2 began", "slow 2 ended"]


def test_a_body_completes_once_though_all_connections_were_cut(prefork: Stage) -> None:
    wait_until(lambda: prefork.is_done("cut"), "the task is done")
    wait_until(lambda: "cut" not in _ids(prefork), "every message of it is acknowledged")
    assert _runs(prefork, "cut") == ["cut 1 began", "cut 1 ended"]


def test_a_run_whose_process_was_killed_is_taken_over(prefork: Stage) -> None:
    wait_until(lambda: prefork.is_done("kills"), "the task is done")
    assert _runs(prefork, "kills") == ["kills 1 began", "kills 1 began", "kills 1 ended"]


def test_a_body_that_kills_its_process_each_time_ends_as_failed(prefork: Stage) -> None:
    """Each start waits until the hold of the one before is over."""
    wait_until(lambda: prefork.is_done("deadly"), "the task is done", 150)
    assert _runs(prefork, "deadly") == ["deadly 1 began"] * 5
    wait_until(lambda: "deadly" not in _ids(prefork), "its message is acknowledged")


def test_a_run_with_a_short_hard_limit_is_put_off_in_time_while_the_server_hangs(tmp_path: Path) -> None:
    """Celery would end its process, and take its message for done."""
    with Server() as broker, Server() as lease:
        stage = Stage(broker.url, "prefork", backend=lease.url)
        worker = _worker(tmp_path, PREFORK_URL=broker.url, PREFORK_LEASE=lease.url)
        try:
            worker.ready()
            lease.pause()
            sent = stage.send("job:hurried", entry="hurried")
            wait_until(
                lambda: worker.logs().count(f"job:hurried[{sent}] received") > 1, "it is put off and comes again"
            )
            assert _runs(stage) == []
            lease.resume()
            wait_until(lambda: _runs(stage) == ["hurried 1 began"], "the body runs")
        finally:
            worker.teardown()


def _ids(stage: Stage) -> set[str]:
    return {message["headers"]["id"] for message in [*stage.messages(), *stage.unacknowledged()]}
