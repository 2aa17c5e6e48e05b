"""``celery -A app leased-beat audit`` on what a real engine wrote to a real ledger."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import redis
from celery import Celery
from celery.bin.base import CLIContext
from click.testing import CliRunner, Result

from celery_leased_beat import Schedule, event, every
from celery_leased_beat.cli import leased_beat
from celery_leased_beat.engine import Engine
from celery_leased_beat.fires import from_milliseconds
from tests.beat.bench import TICK, Bench
from tests.nodes.waiting import wait_until

ROOT = Path(__file__).parents[2]


@event("shop.due")
@dataclass(frozen=True)
class Due: ...


class Shop:
    """An app, its schedule and a replica that serves it turn by turn."""

    def __init__(self, url: str, namespace: str) -> None:
        self.bench = Bench(url, namespace)
        self.app = Celery(namespace, broker=url, set_as_current=False)
        self.app.conf.result_expires = None  # so that Celery adds no clean-up
        self.schedule = Schedule(self.app)
        self.schedule.job("tick", every(TICK), print, catch_up="all")
        self.bench.tenure.begin()

    @property
    def history(self) -> str:
        return self.bench.keys.history

    def engine(self) -> Engine:
        return self.bench.engine(*self.schedule.entries.values())

    def serve(self, count: int = 5, name: str = "tick") -> None:
        self.bench.turn_until(self.engine(), len(self.bench.broker.instants(name)) + count, name)

    def command(self, *arguments: str, app: Celery | None = None) -> Result:
        context = CLIContext(app=app or self.app, no_color=False, workdir=None)
        return CliRunner().invoke(leased_beat, ["audit", *arguments], obj=context, catch_exceptions=False)

    def clean(self, *arguments: str) -> str:
        result = self.command(*arguments)
        assert result.exit_code == 0, result.output
        return result.stdout

    def found(self, *arguments: str) -> str:
        result = self.command(*arguments)
        assert result.exit_code == 1, result.output
        return result.stdout

    def trouble(self, *arguments: str, app: Celery | None = None) -> str:
        """Run a command that cannot do its work, and return the last line, which is all that it says of its own."""
        result = self.command(*arguments, app=app)
        assert result.exit_code == 2, result.output
        assert result.stdout == ""
        return result.stderr.splitlines()[-1]


@pytest.fixture
def shop(server_url: str, namespace: str) -> Iterator[Shop]:
    shop = Shop(server_url, namespace)
    yield shop
    shop.bench.lease.close()


@pytest.fixture
def lose(client: redis.Redis, shop: Shop) -> Callable[[int], str]:
    """Takes one record of the history away, as no engine does, and returns its instant as it is printed."""

    def lose(index: int) -> str:
        key, fields = client.xrange(shop.history)[index]
        client.xdel(shop.history, key)
        return printed(fields)

    return lose


def printed(fields: dict[str, str]) -> str:
    """The first instant of a record as the command prints it."""
    return from_milliseconds(int(fields["first"])).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def test_what_an_engine_decided_is_clean(shop: Shop) -> None:
    shop.serve()
    output = shop.clean("--since", "1h")
    assert output.startswith(f"{shop.bench.namespace}: ")
    assert "tick" in output
    assert output.endswith("missing 0, doubled 0\n")


def test_one_entry_is_shown_with_its_timing_in_english(shop: Shop) -> None:
    shop.serve()
    assert shop.clean("--entry", "tick").splitlines()[1] == "tick: every 100ms"
    (tick,) = json.loads(shop.clean("--entry", "tick", "--json"))["entries"]
    assert (tick["timing"], tick["description"]) == ("every 100", "every 100ms")


def test_a_lost_decision_is_missing_and_named(shop: Shop, lose: Callable[[int], str]) -> None:
    shop.serve()
    instant = lose(3)
    output = shop.found()
    assert f"missing:\n  tick {instant} missing (its entry went on without it)\n" in output
    assert output.endswith("missing 1, doubled 0\n")


def test_a_decision_that_is_there_twice_is_doubled_and_named(shop: Shop, client: redis.Redis) -> None:
    shop.serve()
    _, fields = client.xrange(shop.history)[3]
    client.xadd(shop.history, {**fields, "holder": "other:2", "term": "9"})
    output = shop.found()
    assert f"doubled:\n  tick {printed(fields)} fired by test:1 in term " in output
    assert "fired by other:2 in term 9\n" in output
    assert output.endswith("missing 0, doubled 1\n")


def test_json_has_all_findings(shop: Shop, lose: Callable[[int], str]) -> None:
    shop.serve()
    lose(3)
    found = json.loads(shop.found("--json"))
    assert (found["missing"], found["doubled"]) == (1, 0)
    (tick,) = found["entries"]
    assert tick["name"] == "tick"
    assert tick["counts"]["fired"] == len(shop.bench.broker.received) - 1
    assert tick["holders"] == ["test:1"]
    assert tick["missing"] == [span for span in tick["spans"] if span["outcome"] == "missing"]
    assert [span["count"] for span in tick["missing"]] == [1]


def test_instants_that_an_outage_coalesced_are_shown_with_the_reason(shop: Shop) -> None:
    shop.schedule.job("latest", every(TICK), print)
    engine = shop.engine()
    shop.bench.turn_until(engine, 2, "latest")
    idle_until = shop.bench.now() + 5 * TICK
    wait_until(lambda: shop.bench.now() > idle_until, "five instants without a turn")
    shop.bench.turn_until(engine, 4, "latest")
    output = shop.clean("--entry", "latest")
    assert "coalesced (older than the latest)" in output
    assert "tick" not in output


def test_instants_that_nobody_decides_are_missing_once_it_is_too_late_for_them(shop: Shop) -> None:
    shop.app.conf.leased_beat_lease_ttl = 1
    shop.serve(2)
    output = wait_until(lambda: shop.command().exit_code and shop.found(), "a lease has been over for its TTL")
    assert "(nobody has decided it so far)" in output


def test_a_window_leaves_out_what_lies_beside_it(shop: Shop, lose: Callable[[int], str]) -> None:
    shop.serve()
    lose(3)
    now = shop.bench.now().isoformat()
    assert "missing 0" in shop.clean("--until", "30m")
    assert "missing 0" in shop.clean("--since", now)
    assert "missing 1" in shop.found("--since", "30m", "--until", now)


def test_a_trimmed_history_is_told_and_nothing_is_called_missing(shop: Shop, client: redis.Redis) -> None:
    shop.serve()
    client.xtrim(shop.history, maxlen=3, approximate=False)
    output = shop.clean()
    assert "unrecorded (older than the record)" in output
    assert "not on record, fired or not:" in output
    assert "not fired:" not in output


def test_a_record_that_is_not_ours_is_an_error_and_no_finding(shop: Shop, client: redis.Redis) -> None:
    shop.serve()
    client.xadd(shop.history, {"what": "is this"})
    result = shop.command()
    assert result.exit_code == 2
    assert "has a record" in result.stderr
    assert "that is not ours" in result.stderr


def test_after_a_flush_the_record_begins_anew(shop: Shop, client: redis.Redis) -> None:
    shop.serve()
    client.flushall()
    assert "and nothing is on record" in shop.clean()
    shop.bench.tenure.begin()
    shop.serve()
    assert "missing 0, doubled 0" in shop.clean()


def test_an_entry_that_was_removed_is_reported_apart(shop: Shop, server_url: str) -> None:
    shop.serve()
    bare = Celery(shop.bench.namespace, broker=server_url, set_as_current=False)
    result = shop.command(app=bare)
    assert result.exit_code == 0
    assert "no longer in the schedule:\n  tick\n" in result.stdout


def test_modules_that_the_app_finds_by_itself_are_imported_first(
    shop: Shop, server_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shop.serve()
    package = tmp_path / "found_by_audit"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "jobs.py").write_text("def register(schedule):\n    schedule.job('tick', '@every 100ms', print)\n")
    monkeypatch.syspath_prepend(tmp_path)
    app = Celery(shop.bench.namespace, broker=server_url, set_as_current=False)
    Schedule(app).autodiscover([package.name])
    result = shop.command(app=app)
    assert result.exit_code == 0
    assert "no longer in the schedule" not in result.stdout


def test_names_that_a_terminal_would_take_for_more_are_printed_as_they_are(shop: Shop) -> None:
    names = ["[bold]digest[/bold]", ":smile:", "two\nlines", "été"]
    for name in names:
        shop.schedule.every(TICK, Due(), name=name)
    shop.serve(2, names[0])
    output = shop.clean()
    assert all(shown in output for shown in ("[bold]digest[/bold]", ":smile:", r"'two\nlines'", "été"))


def test_an_unknown_entry_is_an_error(shop: Shop) -> None:
    assert shop.trouble("--entry", "tock").startswith("Error: there is no entry 'tock'")


@pytest.mark.parametrize("since", ["yesterday", "2026-07-01T06:30", "2026-07-01", "-1h", ""])
def test_a_time_that_cannot_be_read_is_an_error_that_says_what_can(shop: Shop, since: str) -> None:
    assert "2026-07-01T06:30Z" in shop.trouble("--since", since)


def test_an_empty_window_is_an_error(shop: Shop) -> None:
    assert shop.trouble("--since", "1h", "--until", "2h").startswith("Error: the window is empty")


def test_a_window_may_begin_before_all_time(shop: Shop) -> None:
    shop.serve()
    shop.clean("--since", "90000w")
    shop.clean("--since", "0001-01-01T00:00Z")


def test_a_server_out_of_reach_is_one_line_without_credentials(shop: Shop) -> None:
    app = Celery("shop", broker="redis://someone:secret@127.0.0.1:1/0", set_as_current=False)
    line = shop.trouble(app=app)
    assert line.startswith("Error: redis://***@127.0.0.1:1/0: the lease's server gave no answer: ConnectionError")
    assert "secret" not in line
    assert "someone" not in line


def test_a_setting_that_cannot_be_used_is_one_line(shop: Shop) -> None:
    app = Celery("shop", broker="amqp://someone:secret@127.0.0.1//", set_as_current=False)
    line = shop.trouble(app=app)
    assert line.startswith("Error: leased_beat_backend is not set")
    assert "secret" not in line


@pytest.mark.usefixtures("installed")
def test_celery_itself_has_the_command_with_the_options_that_an_app_adds_to_all(
    shop: Shop, server_url: str, tmp_path: Path
) -> None:
    shop.serve()
    (tmp_path / "shop.py").write_text(
        "from celery import Celery\n"
        "from click import Option\n"
        f"app = Celery({shop.bench.namespace!r}, broker={server_url!r}, include=['shop_jobs'])\n"
        "app.conf.result_expires = None\n"
        "app.user_options['preload'].add(Option(['--tenant']))\n"
    )
    (tmp_path / "shop_jobs.py").write_text(
        "from celery_leased_beat import Schedule\n"
        "from shop import app\n"
        "Schedule(app).job('tick', '@every 100ms', print)\n"
    )
    command = [sys.executable, "-m", "celery", "-A", "shop", "leased-beat", "audit", "--json"]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert [entry["name"] for entry in found["entries"]] == ["tick"]
    assert found["entries"][0]["counts"]["fired"] == len(shop.bench.broker.received)
