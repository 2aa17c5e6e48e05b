"""The README's example, the shop and the benchmarks are run; the demo's tally is not taken on trust."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from celery_leased_beat.fires import fire_id
from celery_leased_beat.timing import Every
from examples.shop.demo.crew import ROOT, Crew
from examples.shop.demo.stage import Replica, Row, Scene, Stage
from examples.shop.demo.tally import Expectation, Passed, Tally, tally
from examples.shop.journal import Line
from tests.nodes.waiting import wait_until

SINCE = datetime(2026, 3, 1, tzinfo=UTC)
SECOND = timedelta(seconds=1)
HANDLERS = ("mail", "post")


@pytest.fixture
def readme_crew(tmp_path: Path, server_url: str) -> Iterator[Crew]:
    """Processes of the README's example, saved as ``shop.py``."""
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    (tmp_path / "shop.py").write_text(blocks[0])
    path = os.pathsep.join([str(tmp_path), str(ROOT)])
    with Crew("shop", {"PYTHONPATH": path, "CELERY_BROKER_URL": server_url, "VALKEY_URL": server_url}) as crew:
        yield crew


def test_the_readme_example_runs(readme_crew: Crew) -> None:
    worker = readme_crew.start("worker", "worker", "--loglevel", "INFO", "--concurrency", "2")
    beats = [readme_crew.start(f"beat-{number}", "beat", "--loglevel", "INFO") for number in range(2)]

    for text in ("mail for vip", "post for vip"):
        wait_until(lambda text=text: worker.log.read_text().count(text) >= 2, f"{text!r}, twice", 60)
    assert sum(beat.says("elected") for beat in beats) == 1
    assert not readme_crew.fallen()


def test_the_demo_kills_two_holders_and_misses_and_doubles_nothing() -> None:
    ending = json.loads(run("examples.shop", "--seconds", "6", "--json"))

    assert ending["missing"] == ending["doubled"] == 0
    assert ending["instants"] == ending["coalesced"] + ending["enqueued"] > 15
    assert ending["handled"] == ending["enqueued"]
    assert 0 < ending["takeover_after_release"] < 15
    assert 0 < ending["takeover_after_kill"] < 20


def test_the_demos_tables_fit_into_80_columns() -> None:
    names = re.findall(r'"(shop\.\w+)"', "".join(file.read_text() for file in (ROOT / "examples/shop").rglob("*.py")))
    rows = [Row(name, "30 6 * * * Budapest", datetime.now(UTC), SINCE, 1000) for name in sorted(set(names))]
    replicas = [Replica("beat-1", 4_000_000, "standby", 4_000_000_000)]
    stage = Stage(Console(file=(shown := StringIO()), width=80, force_terminal=True, color_system=None))
    with stage.lit():
        stage.show(Scene(replicas, rows))
    assert rows
    assert "…" not in shown.getvalue()
    assert all(f" {row.entry} " in shown.getvalue() for row in rows)


@pytest.mark.parametrize(
    "arguments",
    [("benchmarks.plan",), ("benchmarks.memory",), ("benchmarks.fires", "--fires", "500")],
    ids=lambda arguments: arguments[0],
)
def test_a_benchmark_prints_its_figures(arguments: tuple[str, ...]) -> None:
    assert re.search(r"\d", run(*arguments))


def test_the_tally_finds_nothing_where_all_was_done() -> None:
    assert tallied(lines(1, 2, 3)) == Tally(3, 0, 3, {"tick": 3}, [], [], [])


def test_the_tally_finds_an_instant_that_one_listener_missed() -> None:
    found = tallied(lines(1, 2, 3)[:-1])
    assert found.missing == ["tick 2026-03-01T00:00:03+00:00 post"]
    assert (found.enqueued, found.handled) == (3, 2)


def test_the_tally_finds_an_instant_that_nobody_handled() -> None:
    found = tallied(lines(1, 3))
    assert len(found.missing) == 2
    assert (found.instants, found.enqueued, found.handled) == (3, 2, 2)


def test_the_tally_finds_what_was_done_twice() -> None:
    found = tallied([*lines(1, 2, 3), lines(2)[0]])
    assert found.doubled == ["tick 2026-03-01T00:00:02+00:00 mail"]


def test_the_tally_finds_a_fire_beside_the_grid() -> None:
    beside = Line("mail", fire_id("shop", "tick", SINCE + 1.5 * SECOND), (SINCE + 1.5 * SECOND).isoformat())
    assert len(tallied([*lines(1, 2, 3), beside]).strange) == 1


def test_the_tally_counts_as_coalesced_what_is_on_record_and_was_not_handled() -> None:
    passed = Passed("tick", SINCE + SECOND, SINCE + 2 * SECOND)
    assert tallied(lines(3), passed) == Tally(3, 2, 1, {"tick": 1}, [], [], [])
    assert tallied(lines(2, 3), passed).coalesced == 1


def tallied(done: list[Line], *passed: Passed) -> Tally:
    expectation = Expectation("tick", Every(SECOND, SINCE), SINCE, HANDLERS)
    return tally([expectation], passed, done, namespace="shop", until=SINCE + 3.5 * SECOND)


def lines(*seconds: int) -> list[Line]:
    """What all handlers write of the instants so many seconds after the beginning."""
    instants = [SINCE + second * SECOND for second in seconds]
    return [
        Line(handler, fire_id("shop", "tick", instant), instant.isoformat())
        for instant in instants
        for handler in HANDLERS
    ]


def run(module: str, *arguments: str) -> str:
    """Run a module as a user does, and return what it prints; it must end well."""
    environment = {name: value for name, value in os.environ.items() if name != "VALKEY_URL"}
    command = [sys.executable, "-m", module, *arguments]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=200)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
