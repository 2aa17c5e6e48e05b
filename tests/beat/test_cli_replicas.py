"""``celery -A app leased-beat replicas``: who holds the lease, and whether all have the same schedule."""

import json
import os
import socket
from collections.abc import Callable, Iterator
from datetime import timedelta

import pytest
import redis
from celery import Celery
from celery.bin.base import CLIContext
from click.testing import CliRunner, Result

from celery_leased_beat import Runner, Schedule
from celery_leased_beat.cli import leased_beat
from tests.nodes.waiting import wait_until


def shop(url: str, namespace: str, *jobs: str, **settings: str) -> Celery:
    app = Celery(namespace, broker=url, set_as_current=False)
    app.conf.update(result_expires=None, **settings)
    schedule = Schedule(app)
    for job in jobs:
        schedule.job(job, timedelta(hours=1), print)
    return app


def command(app: Celery, *arguments: str) -> Result:
    context = CLIContext(app=app, no_color=False, workdir=None)
    return CliRunner().invoke(leased_beat, ["replicas", *arguments], obj=context, catch_exceptions=False)


@pytest.fixture
def run(client: redis.Redis, namespace: str) -> Iterator[Callable[[Celery], None]]:
    """Runs a replica of an app until it is on the roll."""
    runners: list[Runner] = []
    key = f"clb:{{{namespace}}}:replicas"

    def run(app: Celery) -> None:
        runners.append(Runner(app))
        runners[-1].start()
        wait_until(lambda: client.hlen(key) == len(runners), "on the roll")
        wait_until(lambda: any(" 0 1 " not in record for record in client.hvals(key)), "a holder on the roll")

    yield run
    for runner in runners:
        runner.stop()


def test_where_nobody_is_there_that_is_a_finding(server_url: str, namespace: str) -> None:
    result = command(shop(server_url, namespace, "a"))
    assert (result.exit_code, result.stdout) == (1, f"{namespace}: nobody holds the lease\n")
    result = command(shop(server_url, namespace, "a"), "--json")
    assert json.loads(result.stdout)["lease"] is None


def test_it_names_the_holder_its_term_and_the_standbys(
    server_url: str, namespace: str, run: Callable[[Celery], None]
) -> None:
    app = shop(server_url, namespace, "a", "b", leased_beat_version="1.4")
    run(app)
    run(shop(server_url, namespace, "a", "b", leased_beat_version="1.4"))
    result = command(app)
    assert result.exit_code == 0, result.stdout
    headline, _, *lines = result.stdout.splitlines()
    assert "holds the lease, term " in headline
    assert [line.count("1.4") for line in lines] == [1, 1]
    assert [("holder" in line, "standby" in line) for line in lines] == [(True, False), (False, True)]
    assert "another schedule" not in result.stdout


def test_the_lease_says_who_holds_it_whatever_the_records_say(
    server_url: str, namespace: str, run: Callable[[Celery], None], client: redis.Redis
) -> None:
    """The record of a holder that died stays for some seconds, and that of its successor may be a second old."""
    app = shop(server_url, namespace, "a")
    run(app)
    key = f"clb:{{{namespace}}}:replicas"
    (alive,) = client.hvals(key)
    successor, term = f"{socket.gethostname()}:{os.getpid()}", client.get(f"clb:{{{namespace}}}:lease").split()[1]
    assert successor in alive
    client.hset(key, "dead", alive.replace(successor, "elsewhere:1"))
    (dead,) = [line for line in command(app).stdout.splitlines() if line.startswith("elsewhere:1")]
    assert "standby" in dead
    terms = {one["replica"].split()[0]: one["term"] for one in json.loads(command(app, "--json").stdout)["replicas"]}
    assert terms == {"elsewhere:1": 0, successor: int(term)}


def test_a_difference_is_a_finding(server_url: str, namespace: str, run: Callable[[Celery], None]) -> None:
    app = shop(server_url, namespace, "a")
    run(app)
    run(shop(server_url, namespace, "a", "b"))
    result = command(app)
    assert result.exit_code == 1
    assert [line.endswith("another schedule than the code here") for line in result.stdout.splitlines()[2:]] == [
        False,
        True,
    ]


def test_a_server_that_cannot_be_reached_is_no_finding(namespace: str) -> None:
    result = command(shop("redis://127.0.0.1:1", namespace, "a"))
    assert result.exit_code == 2
    assert "gave no answer" in result.stderr
