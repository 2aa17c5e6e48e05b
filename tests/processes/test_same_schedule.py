"""Wherever a schedule is declared, beat, both kinds of worker and the command line have the same one."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import redis

from tests.nodes.celery import ProcessNode, beat, worker
from tests.nodes.waiting import wait_until

APP = """
from celery import Celery
from celery_leased_beat import Schedule

def make(**settings):
    app = Celery("shop", broker={url!r})
    app.conf.update(beat_scheduler="celery_leased_beat.Scheduler", **settings)
    return app
"""
REGISTER = """
def register(schedule):
    schedule.job("nightly", "0 3 * * *", print)
    schedule.job("often", "@every 5m", print, queue="fast")
"""
DECLARED = {
    "in an autodiscovered module": {
        "shop.py": APP + "app = make()\nSchedule(app).autodiscover(['stock'])",
        "stock/__init__.py": "", "stock/jobs.py": REGISTER,
    },
    "in an app factory": {
        "jobs.py": REGISTER,
        "shop.py": APP + "import jobs\nschedule = Schedule()\nschedule.include(jobs)\n\ndef create():\n"
        "    app = make()\n    schedule.init_app(app)\n    return app\n\napp = create()",
    },
    "by a dotted path": {
        "jobs.py": "from celery_leased_beat import Schedule\nschedule = Schedule()\n" + REGISTER + "register(schedule)",
        "shop.py": APP + "app = make(leased_beat_schedule='jobs.schedule')",
    },
    "twice by the same import": {
        "jobs.py": REGISTER,
        "stock/__init__.py": "", "stock/jobs.py": REGISTER,
        "late.py": "from stock import jobs\nfrom shop import schedule\nschedule.include(jobs)",
        "shop.py": APP + "app = make(include=['late', 'stock.jobs'])\n"
        "schedule = Schedule(app).autodiscover(['stock']).autodiscover(['stock'])",
    },
}  # fmt: skip


@pytest.fixture(params=DECLARED.values(), ids=DECLARED)
def folder(request: pytest.FixtureRequest, server_url: str, tmp_path: Path) -> Path:
    for name, text in request.param.items():
        file = tmp_path / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(text.replace("{url!r}", repr(server_url)))
    return tmp_path


@pytest.fixture
def replicas(folder: Path) -> Iterator[list[ProcessNode]]:
    (folder / "inside.py").write_text("from shop import app\napp.conf.leased_beat_in_worker = True")
    environment = {"PYTHONPATH": f"{folder}{os.pathsep}{Path(__file__).parents[2]}"}
    nodes: list[ProcessNode] = [
        beat("shop", "beat", folder=folder, environment=environment),
        worker("shop", "worker-B", "-B", folder=folder, environment=environment, concurrency=1),
        worker("inside:app", "worker-step", folder=folder, environment=environment, concurrency=1),
    ]
    for node in nodes:
        node.container.start()
    yield nodes
    for node in nodes:
        node.teardown()


def test_each_process_has_the_same_schedule(folder: Path, replicas: list[ProcessNode], client: redis.Redis) -> None:
    wait_until(lambda: client.hlen("clb:{shop}:replicas") == 3 and client.exists("clb:{shop}:lease"), "three replicas")
    command = [sys.executable, "-m", "celery", "-A", "shop", "leased-beat", "replicas", "--json"]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    found = json.loads(done.stdout)
    assert [one["entries"] for one in found["replicas"]] == [3, 3, 3]  # with the clean-up of results
    assert {one["digest"] for one in found["replicas"]} == {found["digest"]}
    assert found["lease"]["replica"] == found["replicas"][0]["replica"]
    assert not [node.name() for node in replicas if "differs" in node.logs()]
