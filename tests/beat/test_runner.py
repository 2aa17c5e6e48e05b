"""The runner without beat: in a thread, as a context, and with the signals of a process."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import redis
from celery import Celery

from celery_leased_beat import Runner, Schedule
from celery_leased_beat.errors import DuplicateNameError, ScheduleError
from celery_leased_beat.fires import from_milliseconds
from celery_leased_beat.runner import replica
from celery_leased_beat.store import Keys
from celery_leased_beat.timing import Every
from tests.nodes.waiting import holds_for, wait_until

ROOT = Path(__file__).parents[2]


@pytest.fixture
def app(server_url: str, namespace: str) -> Celery:
    app = Celery(namespace, broker=server_url)
    Schedule(app).job("tick", timedelta(milliseconds=200), lambda: None)
    return app


@pytest.fixture
def enqueued(client: redis.Redis) -> Callable[[int], bool]:
    return lambda count: client.llen("celery") >= count


def test_a_runner_serves_as_long_as_its_block(
    app: Celery, client: redis.Redis, namespace: str, enqueued: Callable[[int], bool]
) -> None:
    with Runner(app) as runner:
        wait_until(lambda: enqueued(3), "three messages")
        assert client.exists(f"clb:{{{namespace}}}:lease")
        assert not runner.stopped
    assert not client.exists(f"clb:{{{namespace}}}:lease")
    assert runner.stopped


def test_a_stop_may_come_before_the_start_and_as_often_as_one_likes(app: Celery, client: redis.Redis) -> None:
    runner = Runner(app)
    runner.stop()
    runner.run()
    runner.stop()
    assert client.keys("*") == []


def test_a_runner_serves_once(app: Celery) -> None:
    with Runner(app) as runner:
        for again in (runner.start, runner.run):
            with pytest.raises(RuntimeError, match="a Runner serves once; make another one"):
                again()
    with pytest.raises(RuntimeError, match="serves once"):
        runner.run()


def test_a_runner_imports_the_modules_of_its_app(
    server_url: str, namespace: str, enqueued: Callable[[int], bool], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """As a process of one's own has it, which is neither beat nor a worker."""
    package = tmp_path / "found_by_runner"
    package.mkdir()
    package.joinpath("__init__.py").touch()
    package.joinpath("jobs.py").write_text(
        "def register(schedule):\n    schedule.job('found', '@every 1s', lambda: None)\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    app = Celery(namespace, broker=server_url)
    Schedule(app).autodiscover([package.name])
    with Runner(app):
        wait_until(lambda: enqueued(2), "two messages")


def test_a_schedule_that_such_a_module_makes_is_served_and_its_mistakes_are_raised(
    server_url: str, namespace: str, enqueued: Callable[[int], bool], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    module = tmp_path / "made_for_runner.py"
    monkeypatch.syspath_prepend(tmp_path)
    app = Celery(namespace, broker=server_url, include=[module.stem])
    runner = Runner(app)
    with pytest.raises(ModuleNotFoundError):
        runner.start()
    module.write_text(
        "from celery import current_app\nfrom celery_leased_beat import Schedule\n"
        "Schedule(current_app).job('made', '@every 1s', lambda: None)\n"
    )
    app.set_current()
    app.conf.beat_schedule = {"made": {"task": "made", "schedule": 1}}
    with pytest.raises(DuplicateNameError, match="'made'"):
        runner.run()
    app.conf.beat_schedule = {}
    with runner:
        wait_until(lambda: enqueued(2), "two messages")


def test_a_schedule_that_is_given_is_bound_to_the_app(app: Celery, server_url: str) -> None:
    given = Schedule().job("given", "@hourly", lambda: None)
    bare = Celery("bare", broker=server_url)
    assert "given" in Runner(bare, given).entries
    assert "given" in Runner(bare).entries
    with pytest.raises(ScheduleError, match="has a Schedule already"):
        Runner(app, given)


@pytest.mark.parametrize(("arguments", "message"), [
    ((None,), "None is no Celery app"),
    (("shop",), "'shop' is no Celery app"),
    ((Celery("shop", broker="redis://127.0.0.1:1"), 5), "5 is no Schedule"),
])  # fmt: skip
def test_what_is_no_app_and_no_schedule_is_said(arguments: Any, message: str) -> None:
    with pytest.raises(ScheduleError, match=message):
        Runner(*arguments)


def test_an_empty_schedule_never_takes_the_lease(
    server_url: str, namespace: str, client: redis.Redis, caplog: pytest.LogCaptureFixture
) -> None:
    app = Celery(namespace, broker=server_url)
    Schedule(app)
    with Runner(app):
        wait_until(lambda: "the schedule is empty" in caplog.text, "it says so")
        assert "make a Schedule(app), and import the modules" in caplog.text
        wait_until(lambda: client.exists(f"clb:{{{namespace}}}:replicas"), "the others know of it")
        holds_for(lambda: not client.exists(f"clb:{{{namespace}}}:lease"), "a free lease", 1.0)
    assert not client.exists(f"clb:{{{namespace}}}:replicas")


def test_a_host_whose_clock_is_wrong_is_told_once_and_moves_no_instant(
    app: Celery,
    client: redis.Redis,
    enqueued: Callable[[int], bool],
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    hour, host = timedelta(hours=1), time.time
    monkeypatch.setattr(time, "time", lambda: host() + hour.total_seconds())
    monkeypatch.setattr(replica, "datetime", SimpleNamespace(now=lambda zone: datetime.now(zone) + hour))
    with Runner(app):
        wait_until(lambda: enqueued(5), "five messages")
    (told,) = [message for message in caplog.messages if "from this host's" in message]
    behind = re.match(r"the clock of the lease's server is -(\d+\.\d) s from this host's", told)
    assert behind
    assert abs(float(behind[1]) - hour.total_seconds()) < 60
    fires = [json.loads(text)["headers"]["leased_beat"] for text in client.lrange("celery", 0, -1)]
    by_the_server = from_milliseconds(int(client.time()[0]) * 1000)
    assert all(abs(datetime.fromisoformat(fire["instant"]) - by_the_server) < hour / 2 for fire in fires)


class Unready(Every):
    """A timing whose grid cannot be laid the first times."""

    failures = 2

    def anchored(self, anchor: datetime) -> Every:
        if type(self).failures:
            type(self).failures -= 1
            raise ZeroDivisionError
        return super().anchored(anchor)


def test_an_error_of_our_own_in_a_turn_does_not_end_the_replica(
    server_url: str, namespace: str, enqueued: Callable[[int], bool], caplog: pytest.LogCaptureFixture
) -> None:
    app = Celery(namespace, broker=server_url)
    Schedule(app).job("tick", Unready(timedelta(milliseconds=200)), lambda: None)
    with Runner(app):
        wait_until(lambda: enqueued(3), "three messages")
    assert Unready.failures == 0
    assert ["met an error of its own" in message for message in caplog.messages].count(True) == 1


def test_what_is_not_ours_is_left_alone(app: Celery, client: redis.Redis, enqueued: Callable[[int], bool]) -> None:
    """Keys of other programs, and of other namespaces."""
    theirs = {"lease": "a", "clb:lease": "b", "clb:{another}:lease": "c", "clb:{another}:state": "d"}
    client.mset(theirs)
    with Runner(app):
        wait_until(lambda: enqueued(2), "two messages")
    assert dict(zip(theirs, client.mget(list(theirs)), strict=True)) == theirs
    assert {client.pttl(key) for key in theirs} == {-1}


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_process_of_ones_own_releases_the_lease_on_a_signal(
    server_url: str, namespace: str, client: redis.Redis, enqueued: Callable[[int], bool], number: signal.Signals
) -> None:
    program = f"""
from datetime import timedelta
from celery import Celery
from celery_leased_beat import Schedule
from celery_leased_beat import Runner
app = Celery({namespace!r}, broker={server_url!r})
Schedule(app).job("tick", timedelta(milliseconds=200), print)
Runner(app).run(signals=True)
"""
    process = subprocess.Popen([sys.executable, "-c", program], env={**os.environ, "PYTHONPATH": str(ROOT)})
    try:
        wait_until(lambda: enqueued(2), "two messages")
        process.send_signal(number)
        assert process.wait(30) == 0
    finally:
        process.kill()
    assert not client.exists(f"clb:{{{namespace}}}:lease")


def test_what_others_say_of_their_schedule_ends_no_replica(
    app: Celery, client: redis.Redis, namespace: str, enqueued: Callable[[int], bool], caplog: pytest.LogCaptureFixture
) -> None:
    keys = Keys(namespace)
    client.set(keys.schedule("nested"), "[" * 100_000)
    with Runner(app):
        wait_until(lambda: enqueued(1), "a message")
        client.hset(keys.replicas, "id", f"{int(time.time() * 1000)} 1 nested - 0 1 another:1 0.1.0")
        wait_until(lambda: "the schedule differs from that of another:1" in caplog.text, "the difference is told")
        before = client.llen("celery")
        wait_until(lambda: enqueued(before + 3), "three more messages")
    assert "what differs is not known" in caplog.text
