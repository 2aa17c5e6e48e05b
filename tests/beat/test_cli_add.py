"""``celery -A app leased-beat add`` in a project of its own: what it says, writes, and leaves alone."""

import importlib
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from uuid import uuid4

import pytest
from celery import Celery
from celery.bin.base import CLIContext
from click.testing import CliRunner, Result

from celery_leased_beat.cli import leased_beat
from celery_leased_beat.testing import Rehearsal
from tests.nodes.celery import WorkerNode, worker
from tests.nodes.waiting import wait_until

APP = """\
from celery import Celery

from celery_leased_beat import Events, Schedule

app = Celery("shop", broker={broker!r}, set_as_current=False)
app.autodiscover_tasks([{shop!r}])
bus = Events(app)
plan = Schedule(app){discovery}
"""


class Project:
    """Two packages in a folder: an app, and a shop without a module; their names are no other project's."""

    def __init__(self, folder: Path) -> None:
        mark = uuid4().hex[:8]
        self.folder = folder
        self.app_name, self.shop = f"proj_{mark}", f"shop_{mark}"
        for name in (self.app_name, self.shop):
            (folder / name).mkdir()
            (folder / name / "__init__.py").touch()

    def make_app(self, *, broker: str = "amqp://nobody@127.0.0.1:1//", discovers: bool = True) -> None:
        discovery = f".autodiscover([{self.shop!r}])" if discovers else ""
        text = APP.format(broker=broker, shop=self.shop, discovery=discovery)
        (self.folder / self.app_name / "celery.py").write_text(text)

    @property
    def app(self) -> Celery:
        app: Celery = importlib.import_module(f"{self.app_name}.celery").app
        return app

    def add(self, *arguments: str) -> Result:
        context = CLIContext(app=self.app, no_color=True, workdir=None)
        return CliRunner().invoke(leased_beat, ["add", *arguments], obj=context, catch_exceptions=False)

    def done(self, *arguments: str) -> list[str]:
        """Run a command that does its work; return what it says, with plain names."""
        result = self.add(*arguments)
        assert result.exit_code == 0, result.output
        return result.stdout.replace(self.shop, "shop").splitlines()

    def trouble(self, *arguments: str) -> str:
        """Run a command that cannot do its work: it writes nothing, and says one line."""
        before = self.files()
        result = self.add(*arguments)
        assert result.exit_code == 2, result.output
        assert result.stdout == ""
        assert self.files() == before
        return result.stderr.splitlines()[-1].replace(self.shop, "shop").replace(self.app_name, "proj")

    def files(self) -> dict[str, bytes]:
        return {str(file.relative_to(self.folder)): file.read_bytes() for file in sorted(self.folder.rglob("*.py"))}


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    return Project(tmp_path)


@pytest.fixture
def ready(project: Project) -> Project:
    """The project with an app that finds what is written."""
    project.make_app()
    return project


def test_the_three_generators_write_what_the_app_then_serves(ready: Project) -> None:
    shop = ready.shop
    assert ready.done("job", shop, "nightly_sales_report", "--cron", "0 3 * * *") == [
        "wrote shop/jobs.py: the job shop.nightly_sales_report, cron 0 3 * * *, and its handler nightly_sales_report",
        "due: once a day at 03:00, every day",
    ]
    assert ready.done("event", shop, "digest_due", "--daily-at", "06:30") == [
        "wrote shop/events.py: the event shop.digest_due, class DigestDue",
        "changed shop/jobs.py: the entry shop.digest_due, daily_at 06:30",
        "due: once a day at 06:30, every day",
        "next: let something listen to it: leased-beat add listener shop digest_due NAME",
    ]
    assert ready.done("listener", shop, "digest_due", "send_digest") == [
        "wrote shop/tasks.py: the listener send_digest of shop.digest_due"
    ]
    for name in ("jobs", "events", "tasks"):  # as the next start does
        sys.modules.pop(f"{shop}.{name}", None)
    sys.modules.pop(f"{ready.app_name}.celery")
    fires = Rehearsal(ready.app).fires("2026-03-01T00:00Z", "2026-03-02T00:00Z")
    assert {name: [f"{fire.instant:%H:%M}" for fire in found] for name, found in fires.items()} == {
        f"{shop}.nightly_sales_report": ["03:00"],
        f"{shop}.digest_due": ["06:30"],
    }


def test_a_second_call_changes_nothing_and_says_so(ready: Project) -> None:
    calls = {
        ("job", ready.shop, "report", "--every", "1h30m"): "jobs.py has the job shop.report, every 1h30m",
        ("event", ready.shop, "digest_due", "--cron", "@daily"): "jobs.py has the event shop.digest_due, cron @daily",
        ("event", ready.shop, "order_placed"): "events.py has the event shop.order_placed",
        ("listener", ready.shop, "digest_due", "send"): "tasks.py has the listener send of shop.digest_due",
    }
    for call in calls:
        ready.done(*call)
    before = ready.files()
    for call, text in calls.items():
        assert ready.done(*call)[0] == f"nothing to do: shop/{text}"
    assert ready.files() == before


def test_a_dry_run_shows_what_would_be_written(ready: Project) -> None:
    before = ready.files()
    shown = ready.done("event", ready.shop, "digest_due", "--every", "5s", "--dry-run")
    assert ready.files() == before
    assert [line for line in shown if line.startswith("+++")] == ["+++ shop/events.py", "+++ shop/jobs.py"]
    assert '+    schedule.every("5s", DigestDue())' in shown


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["job", "{shop}", "report", "--cron", "0 25 * * *"], "'0 25 * * *': hour '25' is not allowed"),
        (["job", "{shop}", "report", "--cron", "0 0 30 2 *"], "'0 0 30 2 *'"),
        (["job", "{shop}", "report", "--daily-at", "25:61"], "'25:61' is not a time of day"),
        (["job", "{shop}", "report"], "when does it run? give one of --cron, --every and --daily-at"),
        (["job", "{shop}", "report", "--every", "1h", "--cron", "@daily"], "cron @daily and every 1h: give one of"),
        (["job", "{shop}", "my-report", "--every", "1h"], "'my-report' is no name of a function"),
        (["event", "{shop}", "DigestDue", "--every", "1h"], "'DigestDue' is no name of a function"),
        (["job", "no_shop", "report", "--every", "1h"], "there is no package 'no_shop' that can be imported here"),
        (["job", "no_shop.part", "report", "--every", "1h"], "there is no package 'no_shop.part' that"),
        (["job", "./{shop}/", "report", "--every", "1h"], "there is no package './shop/' that can be imported here"),
        (["job", "{app}.celery", "report", "--every", "1h"], "'proj.celery' is no package but a module"),
        (["job", "celery", "report", "--every", "1h"], "'celery' is installed, in "),
        (["listener", "{shop}", "digest_due", "send"], "shop.events has no event 'shop.digest_due', there is none"),
        (["listener", "{shop}", "no_shop.digest_due", "send"], "there is no package 'no_shop'"),
    ],
)
def test_what_cannot_be_done_is_one_line_and_nothing_is_written(
    ready: Project, arguments: list[str], said: str
) -> None:
    given = [argument.format(shop=ready.shop, app=ready.app_name) for argument in arguments]
    assert ready.trouble(*given).startswith(f"Error: {said}")


def test_a_job_is_retimed_in_the_code(ready: Project) -> None:
    ready.done("job", ready.shop, "report", "--every", "1h")
    line = ready.trouble("job", ready.shop, "report", "--every", "2h")
    assert line.endswith("the entry of shop.report already, in line 15, and not with every 2h; change it there")


def test_a_name_that_the_app_has_from_elsewhere_is_an_error(ready: Project) -> None:
    module = importlib.import_module(f"{ready.app_name}.celery")
    module.plan.job(f"{ready.shop}.report", "@daily", print)
    line = ready.trouble("job", ready.shop, "report", "--cron", "@daily")
    assert line == "Error: the app has an entry 'shop.report' already; take another name"


def test_a_name_that_the_file_has_is_an_error_before_the_app_has_loaded_it(project: Project) -> None:
    project.make_app(discovers=False)
    project.done("event", project.shop, "digest_due", "--daily-at", "06:30")
    line = project.trouble("job", project.shop, "digest_due", "--every", "5s")
    assert line == "Error: shop/jobs.py has an entry 'shop.digest_due' already, in line 10; take another name"
    project.done("job", project.shop, "report", "--every", "5s")
    line = project.trouble("event", project.shop, "report", "--every", "5s")
    assert line.startswith("Error: shop/jobs.py has an entry 'shop.report' already, in line ")


def test_a_name_that_the_loaded_file_has_is_told_with_its_place(ready: Project) -> None:
    ready.done("event", ready.shop, "digest_due", "--daily-at", "06:30")
    line = ready.trouble("job", ready.shop, "digest_due", "--every", "5s")
    assert line == "Error: shop/jobs.py has an entry 'shop.digest_due' already, in line 10; take another name"


def test_a_module_that_cannot_be_imported_is_one_line(ready: Project) -> None:
    (ready.folder / ready.shop / "tasks.py").write_text("import no_such_module\n")
    line = ready.trouble("job", ready.shop, "report", "--every", "1h")
    assert (
        line
        == "Error: the modules of the app cannot be imported: ModuleNotFoundError: No module named 'no_such_module'"
    )


def test_without_events_there_is_no_place_for_a_listener(project: Project) -> None:
    (project.folder / project.app_name / "celery.py").write_text(
        "from celery import Celery\n\napp = Celery('shop', broker='memory://', set_as_current=False)\n"
    )
    project.done("event", project.shop, "digest_due")
    line = project.trouble("listener", project.shop, "digest_due", "send")
    assert line == "Error: the app has no Events in any module; write, beside the app: events = Events(app)"


def test_an_app_that_does_not_look_there_is_told_how_to(project: Project) -> None:
    project.make_app(discovers=False)
    said = 'next: let the schedule find shop.jobs, where it is made: schedule.autodiscover(["shop"])'
    assert project.done("job", project.shop, "report", "--every", "1h")[-1] == said
    assert project.done("job", project.shop, "report", "--every", "1h")[-1] == said


def test_an_app_without_a_schedule_and_without_tasks_is_told_how_to(project: Project) -> None:
    (project.folder / project.app_name / "celery.py").write_text(
        "from celery import Celery\n\nfrom celery_leased_beat import Events\n\n"
        "app = Celery('shop', broker='memory://', set_as_current=False)\nbus = Events(app)\n"
    )
    project.done("event", project.shop, "digest_due")
    assert project.done("job", project.shop, "report", "--every", "1h")[-1] == (
        'next: make a schedule, beside the app: schedule = Schedule(app).autodiscover(["shop"])'
    )
    assert project.done("listener", project.shop, "digest_due", "send")[-1] == (
        'next: let workers import shop.tasks, where the app is made: Celery(..., include=["shop.tasks"])'
    )


def test_a_package_may_listen_to_another_ones_events(ready: Project) -> None:
    other = f"other_{uuid4().hex[:8]}"
    (ready.folder / other).mkdir()
    (ready.folder / other / "__init__.py").touch()
    ready.done("event", other, "order_placed")
    ready.done("listener", ready.shop, f"{other}.order_placed", "say_thanks")
    assert (
        (ready.folder / ready.shop / "tasks.py")
        .read_text()
        .startswith(
            f'"""What {ready.shop} does when something happens."""\n\nimport logging\n\n'
            f"from {other}.events import OrderPlaced\nfrom {ready.app_name}.celery import bus\n"
        )
    )


@pytest.fixture
def start(project: Project) -> Iterator[Callable[[], WorkerNode]]:
    """Start a worker of the project with a beat in it."""
    nodes = []

    def start() -> WorkerNode:
        path = os.pathsep.join([str(project.folder), os.environ.get("PYTHONPATH", ""), str(Path(__file__).parents[2])])
        node = worker(
            f"{project.app_name}.celery", "worker", "-B", "--scheduler", "celery_leased_beat.Scheduler",
            folder=project.folder, environment={"PYTHONPATH": path}, concurrency=1,
        )  # fmt: skip
        nodes.append(node)
        node.ready()
        return node

    yield start
    for node in nodes:
        node.teardown()


def test_what_is_written_runs_in_a_worker(project: Project, start: Callable[[], WorkerNode], server_url: str) -> None:
    project.make_app(broker=server_url)
    project.done("job", project.shop, "report", "--every", "1s")
    project.done("event", project.shop, "digest_due", "--every", "1s")
    project.done("listener", project.shop, "digest_due", "send_digest")
    node = start()
    for text in (f"{project.shop}.report is due at 20", "DigestDue()"):
        wait_until(lambda text=text: node.logs().count(text) >= 2, f"the log says {text!r} twice", 60)
