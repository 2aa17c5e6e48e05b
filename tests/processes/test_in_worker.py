"""A replica inside the worker (``leased_beat_in_worker``) competes as a beat does, and never troubles its worker."""

from dataclasses import replace

import pytest

from celery_leased_beat import Scheduler
from celery_leased_beat.worker import _is_ours
from tests.nodes.celery import WorkerNode
from tests.nodes.programs import require_module
from tests.nodes.waiting import wait_until
from tests.processes.happenings import dispatch_slow
from tests.processes.stage import NO_MESSAGES, WORKER_END, Stage

ENTRIES = {"tick": "all"}
GREEN = ["gevent", "eventlet"]
POOLS = ["prefork", "solo", "threads", *GREEN]
#: Seconds that a body takes which is at work when its worker is told to go.
BODY = 3.0


class OwnScheduler(Scheduler):
    """What a user may make of ours."""


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
    stage.assert_clean()


@pytest.mark.stage(workers=0, entries=ENTRIES)
@pytest.mark.parametrize("pool", POOLS)
def test_a_worker_of_any_pool_lives_through_a_lost_lease_and_ends_under_work_when_it_is_told(
    stage: Stage, pool: str
) -> None:
    node = start(stage, pool)
    pid = node.pid
    stage.holder()
    stage.handled_each(2)
    assert ("enforces no time limits" in node.logs()) == (pool not in ("prefork", "gevent"))
    assert ("enforces hard time limits only" in node.logs()) == (pool == "gevent")

    for value in ("", "foreign"):
        stage.client.set(stage.lease_key, value, px=1000) if value else stage.client.delete(stage.lease_key)
        wait_until(lambda: stage.holds(node), "the lease is taken again")
        stage.handled_each(2)
    assert node.alive()
    assert node.pid == pid

    identity = dispatch_slow(stage.options.broker, BODY)
    wait_until(lambda: [row for row in stage.sink.rows() if row.handler == "slow"], "a body has begun")
    node.kill("SIGTERM")
    assert node.wait_ended(WORKER_END) == 0
    assert "released the lease" in node.logs()
    assert "Traceback" not in node.logs()

    start(stage, pool, "successor")
    stage.handled_each(2)
    stage.drained()
    assert [row.id for row in stage.sink.done("slow")] == [identity]
    found = stage.finish()
    assert not found.missing
    assert not found.doubled
    assert {row.handler for row in found.strange} == {"slow"}, "which no entry of the schedule dispatched"


@pytest.mark.stage(workers=1, entries=ENTRIES, ttl=15.0)
@pytest.mark.parametrize("pool", GREEN)
def test_green_pools_hand_the_lease_on_as_others_do(stage: Stage, pool: str) -> None:
    for number in range(3):
        start(stage, pool, f"{pool}-{number}", *NO_MESSAGES)
    for signal in ("SIGTERM", "SIGKILL"):
        holder = stage.holder()
        stage.handled_each(2)
        holder.kill(signal)
        stage.holder(other_than=holder)
        assert holder.wait_ended(WORKER_END) == (0 if signal == "SIGTERM" else -9)
    stage.handled_each(2)
    stage.assert_clean()


def start(stage: Stage, pool: str, name: str = "inside", *arguments: str) -> WorkerNode:
    if pool in GREEN:
        require_module(pool)
    return stage.worker_with_replica(name, "--pool", pool, *arguments)


@pytest.mark.stage(workers=0)
def test_a_worker_whose_schedule_is_empty_never_takes_the_lease_and_is_on_the_roll(stage: Stage) -> None:
    stage.options = replace(stage.options, entries={})
    node = stage.worker_with_replica("inside")
    node.assert_log_exists("the schedule is empty: this replica never takes the lease")
    wait_until(lambda: stage.client.hlen(f"clb:{{{stage.options.app}}}:replicas"), "it is on the roll")
    stage.stays(lambda: not stage.lease_value(), "nobody holds the lease", stage.options.ttl)


@pytest.mark.parametrize(
    ("scheduler", "ours"),
    [
        ("celery_leased_beat.Scheduler", True), (f"{__name__}:OwnScheduler", True),
        ("celery.beat:PersistentScheduler", False), ("celery", False),
    ],
)  # fmt: skip
def test_the_scheduler_of_a_workers_beat_is_ours_where_it_is_a_subclass_of_ours(scheduler: str, ours: bool) -> None:
    assert _is_ours(scheduler) == ours
