"""A replica inside the worker (``leased_beat_in_worker``) competes as a beat does, and never troubles its worker."""

import pytest

from tests.nodes.waiting import wait_until
from tests.processes.stage import NO_MESSAGES, Stage
from tests.processes.test_takeover import assert_clean

ENTRIES = {"tick": "all"}
#: Celery's prefork children may wait 30 s at their end for an answer that their parent no longer reads.
WORKER_END = 90.0


@pytest.mark.stage(workers=1, entries=ENTRIES, ttl=15.0)
def test_workers_with_a_replica_hand_the_lease_on_when_one_is_killed_and_when_one_is_told_to_go(stage: Stage) -> None:
    for number in range(3):
        stage.worker_with_replica(f"inside-{number}", *NO_MESSAGES)
    killed = stage.holder()
    stage.handled_each(2)
    killed.kill("SIGKILL")
    told = stage.holder(other_than=killed)
    stage.handled_each(2)
    told.kill("SIGTERM")
    stage.holder(other_than=told)
    assert told.wait_ended(WORKER_END) == 0
    stage.handled_each(2)
    assert_clean(stage)


@pytest.mark.stage(workers=0, entries=ENTRIES)
@pytest.mark.parametrize("pool", ["solo", "threads"])
def test_a_worker_of_another_pool_runs_a_replica_too_and_says_that_it_enforces_no_limits(
    stage: Stage, pool: str
) -> None:
    node = stage.worker_with_replica(pool, "--pool", pool)
    assert stage.holder() is node
    stage.handled_each(3)
    assert "enforces no time limits" in node.logs()
    assert_clean(stage)


@pytest.mark.stage(workers=0, entries=ENTRIES)
def test_a_lost_lease_leaves_the_worker_alone(stage: Stage) -> None:
    node = stage.worker_with_replica("inside")
    stage.holder()
    pid = node.pid
    for value in ("", "foreign"):
        stage.client.set(stage.lease_key, value, px=1000) if value else stage.client.delete(stage.lease_key)
        wait_until(lambda: stage.holds(node), "the lease is taken again")
        stage.handled_each(2)
    assert node.pid == pid
    assert node.alive()
    assert_clean(stage)


@pytest.mark.stage(workers=0)
def test_a_worker_whose_schedule_is_empty_runs_none(stage: Stage) -> None:
    stage.options = stage.options.__class__(**{**vars(stage.options), "entries": {}})
    node = stage.worker_with_replica("inside")
    node.assert_log_exists("runs no replica")
    stage.stays(lambda: not stage.lease_value(), "nobody holds the lease", stage.options.ttl)
