"""A worker that loses its broker, and workers with a beat inside."""

import os
import signal
from dataclasses import replace

import psutil
import pytest

from tests.nodes.celery import WorkerNode
from tests.nodes.proxy import Proxy
from tests.nodes.waiting import wait_until
from tests.processes.happenings import dispatch_slow
from tests.processes.options import Options
from tests.processes.stage import NO_MESSAGES, WORKER_END, Stage

BODY = 8.0


class TestLosingTheBroker:
    @pytest.fixture
    def worker_options(self, options: Options, broker_proxy: Proxy) -> Options:
        return replace(options, broker=broker_proxy.url)

    @pytest.mark.stage(workers=1, concurrency=2, entries={})
    def test_a_body_completes_once_though_all_connections_to_the_broker_are_cut(
        self, stage: Stage, broker_proxy: Proxy
    ) -> None:
        identity = dispatch_slow(stage.options.broker, BODY)
        wait_until(lambda: [row for row in stage.sink.rows() if row.handler == "slow"], "the body has begun")

        assert broker_proxy.cut() > 0
        wait_until(lambda: stage.sink.done("slow"), "the body has completed", 3 * BODY)
        stage.drained(120)

        assert [row.id for row in stage.sink.done("slow")] == [identity]
        assert len(stage.sink.rows()) == 1 + 1, "one begin and one end"


class TestWithABeatInside:
    @pytest.mark.stage(entries={"tick": "all"}, workers=0)
    def test_a_deleted_lease_costs_neither_the_worker_nor_an_instant(self, stage: Stage) -> None:
        workers = two_workers_with_beats(stage)
        value = stage.lease_value()

        stage.client.delete(stage.lease_key)
        wait_until(lambda: stage.lease_value() not in ("", value), "the lease of a new term")
        stage.handled_each(3)

        assert all(worker.alive() for worker in workers)
        stage.assert_clean()

    @pytest.mark.stage(entries={"tick": "all"}, workers=0)
    def test_another_beat_holds_after_the_holding_one_was_killed_alone(self, stage: Stage) -> None:
        two_workers_with_beats(stage)
        holder = stage.holder()
        os.kill(stage.holding_pid(holder), signal.SIGKILL)

        stage.holder(other_than=holder)
        stage.handled_each(3)
        assert holder.alive()
        stage.assert_clean()

    @pytest.mark.stage(entries={"tick": "all"}, workers=0, ttl=15.0)
    def test_a_worker_that_is_told_to_go_hands_the_lease_on_while_it_ends_its_bodies(self, stage: Stage) -> None:
        holder = stage.worker_with_beat("embedded-1")
        holder.ready()
        stage.handled_each(2)
        stage.worker_with_beat("embedded-2", *NO_MESSAGES).ready()
        dispatch_slow(stage.options.broker, 0, gate="taken over")
        wait_until(lambda: [row for row in stage.sink.rows() if row.handler == "slow"], "the body has begun")

        holder.kill("SIGTERM")
        stage.holder(other_than=holder)
        assert holder.alive()
        assert not stage.sink.done("slow")
        stage.sink.open("taken over")
        assert holder.wait_ended(WORKER_END) == 0
        assert stage.sink.done("slow")

        stage.worker_with_beat("embedded-3")
        stage.handled_each(3)
        found = stage.finish()
        assert (found.missing, found.doubled) == ([], [])

    @pytest.mark.stage(entries={"tick": "all"}, workers=1)
    def test_the_beat_of_a_killed_worker_leaves_too(self, stage: Stage) -> None:
        two_workers_with_beats(stage, *NO_MESSAGES)
        holder = stage.holder()
        orphan = stage.holding_pid(holder)
        holder.kill("SIGKILL")

        wait_until(lambda: not psutil.pid_exists(orphan), "the orphan has left")
        stage.holder(other_than=holder)
        stage.handled_each(3)
        stage.assert_clean()


def two_workers_with_beats(stage: Stage, *arguments: str) -> list[WorkerNode]:
    workers = [stage.worker_with_beat(f"embedded-{number}", *arguments) for number in (1, 2)]
    for worker in workers:
        worker.ready()
    stage.holder()
    stage.handled_each(2)
    return workers
