"""An app with nothing but a ``beat_schedule``, switched by one setting."""

from collections import defaultdict
from datetime import datetime, timedelta
from itertools import pairwise
from pathlib import Path

import pytest

from celery_leased_beat.fires import fire_id
from tests.nodes.celery import WorkerNode, beat, worker
from tests.nodes.waiting import wait_until
from tests.processes.sink import Row
from tests.processes.stage import SCHEDULER, Stage

APP = "tests.processes.plain"

SECONDS = {"seconds": 1, "leased": 2, "elsewhere": 2, "added": 2}


@pytest.mark.stage(entries={}, workers=0)
def test_a_plain_app_is_served_by_replicas_after_one_setting(stage: Stage, tmp_path: Path) -> None:
    switched = {**stage.options.environment(), "PLAIN_SCHEDULER": SCHEDULER}
    pool = worker(APP, "pool", folder=tmp_path, environment={**switched, "PLAIN_WORKER": "1"})
    pool.container.start()
    try:
        pool.ready()
        for name in ("one", "two"):
            node = beat(APP, name, folder=tmp_path, environment=switched)
            node.container.start()
            stage.replicas.append(node)
        first = stage.holder()
        wait_until(lambda: has_run(stage, 3), "each entry fires")
        first.kill("SIGKILL")
        second = stage.holder(other_than=first)
        wait_until(lambda: has_run(stage, 8), "each entry goes on")
        second.kill("SIGTERM")
        assert second.wait_ended() == 0
        stage.drained()
        assert_handled_once(stage, pool)
        log = first.logs()
        assert log.count("the entry 'broken' of beat_schedule is not served") == 1
        assert log.count("the task elsewhere of 'elsewhere' is not registered") == 1
    finally:
        pool.teardown()


def has_run(stage: Stage, times: int) -> bool:
    instants: dict[str, set[str]] = defaultdict(set)
    for row in stage.sink.rows():
        instants[row.entry].add(row.instant)
    return all(len(instants[entry]) >= times for entry in SECONDS)


def assert_handled_once(stage: Stage, pool: WorkerNode) -> None:
    rows: dict[str, list[Row]] = defaultdict(list)
    for row in sorted(stage.sink.rows(), key=lambda row: (row.due, row.attempt)):
        rows[row.entry].append(row)
    assert set(rows) == set(SECONDS)
    for entry, seconds in SECONDS.items():
        attempts = [1, 2] if entry == "leased" else [1]
        instants = sorted({row.due for row in rows[entry]})
        assert [(row.due, row.attempt) for row in rows[entry]] == [(due, n) for due in instants for n in attempts]
        assert {row.id for row in rows[entry]} == {fire_id(stage.options.app, entry, due) for due in instants}
        assert all(is_on_the_grid(later - earlier, seconds) for earlier, later in pairwise(instants))
    assert all(datetime.fromisoformat(row.instant).tzinfo for row in rows["seconds"])


def is_on_the_grid(distance: timedelta, seconds: int) -> bool:
    """Whether both are of one grid: a takeover may have left some out, which were coalesced into the latest."""
    return distance % timedelta(seconds=seconds) == timedelta(0)
