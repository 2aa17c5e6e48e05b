"""What a first user does in a new folder, with the script ``celery``: that folder is not on its path."""

import os
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from tests.nodes.process import ROOT, LocalProcess
from tests.nodes.waiting import wait_until

APP = """\
from celery import Celery

from celery_leased_beat import Events, Schedule

app = Celery("proj", broker={broker!r})
events = Events(app)
schedule = Schedule(app).autodiscover(["shop"])
"""
#: As the script does, it leaves the working directory off the path.
CELERY = [sys.executable, "-P", "-m", "celery"]
APP_OPTION = ("-A", "proj")
COMMANDS = [[name] for name in ("leased-beat", "add", "audit", "replicas", "event", "job", "listener")]


class Folder:
    """A module with an app, and a package beside it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        (path / "shop").mkdir()
        (path / "shop" / "__init__.py").touch()
        (path / "shop" / "jobs.py").write_text("def register(schedule):\n    pass\n")

    def app(self, text: str, broker: str = "memory://") -> None:
        (self.path / "proj.py").write_text(text.replace("{broker!r}", repr(broker)))

    def celery(self, *arguments: str, app: Iterable[str] = APP_OPTION) -> subprocess.CompletedProcess[str]:
        environment = {**os.environ, "PYTHONPATH": str(ROOT), "COLUMNS": "80"}
        command = [*CELERY, *app, *arguments]
        return subprocess.run(
            command, cwd=self.path, env=environment, capture_output=True, text=True, timeout=60, check=False
        )

    def process(self, name: str, *arguments: str) -> LocalProcess:
        command = [*CELERY, *APP_OPTION, *arguments]
        return LocalProcess(name, command, folder=self.path, prompt="beat: Starting...", environment={})


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    return Folder(tmp_path)


@pytest.fixture
def processes() -> Iterator[list[LocalProcess]]:
    started: list[LocalProcess] = []
    yield started
    for one in started:
        one.teardown()


def test_what_is_discovered_is_found_beside_the_app(
    folder: Folder, server_url: str, processes: list[LocalProcess]
) -> None:
    folder.app(APP, server_url)
    added = folder.celery("leased-beat", "add", "job", "shop", "report", "--every", "1s")
    assert added.returncode == 0, added.stderr
    assert "next:" not in added.stdout
    (folder.path / "shop" / "tasks.py").write_text("from proj import events\n")
    folder.app(APP.replace("{broker!r}", '{broker!r}, include=["shop.tasks"]'), server_url)
    for name, arguments in {"beat": ("beat", "-S", "leased"), "worker": ("worker", "-P", "solo")}.items():
        process = folder.process(name, *arguments, "-l", "INFO")
        process.start()
        processes.append(process)
    beat, worker = processes
    wait_until(lambda: "elected" in beat.logs(), "beat serves", 60)
    wait_until(lambda: "shop.report is due at 20" in worker.logs(), "the job runs", 60)
    assert folder.celery("leased-beat", "audit").returncode == 0


@pytest.mark.parametrize("command", [("audit",), ("add", "job", "shop", "report", "--every", "1s")])
def test_what_celery_does_not_find_there_is_told_with_the_cure(folder: Folder, command: tuple[str, ...]) -> None:
    folder.app(APP.replace("events =", 'app.autodiscover_tasks(["shop"])\nevents ='), "redis://127.0.0.1:1/0")
    done = folder.celery("leased-beat", *command)
    assert done.returncode == 2
    assert done.stderr.splitlines() == [
        "Error: the modules of the app cannot be imported: ModuleNotFoundError: No module named 'shop'; "
        "shop is in this folder: `python -m celery` has the folder on its path"
    ]


def test_a_module_that_a_package_has_not_is_told_without_a_cure_that_is_none(folder: Folder) -> None:
    folder.app(APP.replace("{broker!r}", '{broker!r}, include=["shop.tasks"]'))
    done = folder.celery("leased-beat", "add", "job", "shop", "report", "--every", "1s")
    assert done.returncode == 2
    assert done.stderr.splitlines() == [
        "Error: the modules of the app cannot be imported: ModuleNotFoundError: No module named 'shop.tasks'"
    ]


@pytest.mark.parametrize("command", ["audit", "replicas"])
def test_a_command_without_an_app_says_so_where_settings_are_missing(folder: Folder, command: str) -> None:
    done = folder.celery("leased-beat", command, app=())
    assert done.returncode == 2
    (line,) = done.stderr.splitlines()
    assert line.startswith("Error: leased_beat_backend is not set")
    assert line.endswith("; no app is given, which is `celery -A NAME leased-beat ...`")


@pytest.mark.parametrize("group", [[], ["leased-beat"], ["leased-beat", "add"]])
def test_the_summary_of_each_command_fits_into_a_line_of_the_help(folder: Folder, group: list[str]) -> None:
    folder.app(APP)
    shown = folder.celery(*group, "--help").stdout
    ours = [line for line in shown.splitlines() if line.split()[:1] in COMMANDS]
    assert ours
    assert [line for line in ours if line.endswith("...")] == []


@pytest.mark.parametrize(
    ("schedule", "scheduler", "warned"),
    [(True, "celery.beat.Scheduler", True), (True, "leased", False), (False, "celery.beat.Scheduler", False)],
)
def test_a_beat_with_another_scheduler_says_that_the_schedule_is_not_served(
    folder: Folder, server_url: str, processes: list[LocalProcess], schedule: bool, scheduler: str, warned: bool
) -> None:
    text = APP if schedule else APP[: APP.index("schedule =")]
    folder.app(text + "app.conf.beat_schedule = {'one': {'task': 'a.task', 'schedule': 1}}\n", server_url)
    process = folder.process("beat", "beat", "-S", scheduler, "-l", "INFO")
    process.start()
    processes.append(process)
    wait_until(lambda: any(text in process.logs() for text in ("Sending due task", "elected")), "it serves", 60)
    assert process.logs().count("fires nothing of the app's Schedule") == int(warned)
