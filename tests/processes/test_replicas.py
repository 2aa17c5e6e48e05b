"""How a replica starts: what it shows, what it serves, whether it gets the lease."""

import os
import re
import sys
from importlib.metadata import Distribution
from pathlib import Path

import pytest
import redis
from pytest_celery import CeleryTestSetup

from tests.nodes.celery import BeatNode
from tests.nodes.process import ROOT, LocalProcess
from tests.nodes.waiting import wait_until
from tests.processes.stage import APP, Stage


@pytest.mark.stage(workers=1, entries={"tick": "all"})
def test_beat_shows_its_lease_and_settings_and_the_workers_answer(stage: Stage, celery_setup: CeleryTestSetup) -> None:
    assert celery_setup.ready(control=True)
    beat = stage.beat("beat")
    assert beat.ready()
    for shown in (stage.lease_key, "3 s", "UTC", stage.options.app):
        beat.assert_log_exists(shown)
    stage.handled_each(2)
    stage.assert_clean()


@pytest.mark.stage(workers=0)
def test_beat_finds_the_scheduler_by_its_short_name(stage: Stage, installed: Distribution) -> None:
    assert stage.beat("beat", scheduler="leased").ready()
    stage.holder()


@pytest.mark.stage(workers=0)
def test_the_documented_script_starts_again_after_a_kill_and_lets_the_lease_go_when_it_is_told(
    stage: Stage, tmp_path: Path
) -> None:
    script = re.findall(r"```sh\n(.*?)```", (ROOT / "docs" / "settings.md").read_text(), re.DOTALL)
    (path := tmp_path / "beat.sh").write_text("".join(script).replace("-A shop", f"-A {APP}"))
    programs = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    environment = {**stage.options.environment(), "PATH": programs}
    beat = BeatNode(LocalProcess(
        "beat", ["sh", str(path)], folder=tmp_path, prompt="beat: Starting...", environment=environment
    ))  # fmt: skip
    stage.replicas.append(beat)
    for number, code in (("SIGKILL", -9), ("SIGINT", 0), ("SIGTERM", 0)):
        beat.ready()
        assert stage.holder() is beat
        beat.kill(number)
        assert beat.wait_ended() == code
        assert bool(stage.lease_value()) == (code != 0)
    assert {file.name for file in tmp_path.iterdir()} == {"beat.sh", "beat.log"}


@pytest.mark.stage(workers=0, backend="")
def test_two_apps_with_default_settings_on_one_valkey_hold_a_lease_each(stage: Stage) -> None:
    nodes = {name: stage.beat(name, app=name) for name in ("shop", "blog")}
    # The lease lies on the broker, where nothing else is said.
    with redis.Redis.from_url(stage.broker.url, decode_responses=True) as client:

        def held() -> bool:
            return all(str(node.pid) in (client.get(f"clb:{{{name}}}:lease") or "") for name, node in nodes.items())

        wait_until(held, "each holds its lease")
    assert all(node.alive() for node in nodes.values())


@pytest.mark.stage(workers=0)
def test_a_replica_with_an_empty_schedule_says_so_and_leaves_the_lease_to_another(stage: Stage) -> None:
    empty = stage.beat("empty", entries={})
    empty.assert_log_exists("empty")
    stage.stays(lambda: not stage.lease_value(), "nobody holds the lease", stage.options.ttl)
    full = stage.beat("full")
    assert stage.holder() is full


@pytest.mark.stage(entries={"tick": "all"})
def test_replicas_that_start_before_their_servers_compete_once_these_are_up(stage: Stage) -> None:
    stage.lease.stop()
    stage.beats(2)
    for beat in stage.replicas:
        assert beat.ready()
    stage.stays(lambda: True, "no server", stage.options.ttl)
    stage.lease.start()
    stage.holder()
    stage.handled_each(3)
    stage.assert_clean()
