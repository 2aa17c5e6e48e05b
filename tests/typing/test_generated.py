"""What the generators write passes mypy and Ruff, in a new package and in modules as people write them."""

from pathlib import Path

import pytest

from celery_leased_beat.generate import (
    Import,
    Package,
    When,
    plan_event,
    plan_job,
    plan_listener,
    require_event,
    write_changes,
)
from tests.core.changes import CHANGES, read
from tests.core.jobs_modules import all_modules
from tests.typing.checkers import ROOT, check, require

#: A line takes it twice, as ``import name as name`` needs.
LONG = "send_all_of_them_a_letter_about_it"

#: Unused imports are the user's own, and what the sample modules do not define.
SELECT = "--select=E,F,W,I,B,C4,PIE,PT,RET,RUF,SIM,UP"
OF_THE_SAMPLES = "--ignore=F401,F811,F821"

APP = """\
from celery import Celery

from celery_leased_beat import Events, Schedule

app = Celery("shop")
events = Events(app)
schedule = Schedule(app).autodiscover(["shop"])
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """An app, the package ``shop`` without a module, and Ruff's own defaults."""
    (tmp_path / "pyproject.toml").write_text("[tool.ruff]\n")
    for package in ("proj", "shop"):
        (tmp_path / package).mkdir()
        (tmp_path / package / "__init__.py").touch()
    (tmp_path / "proj/celery.py").write_text(APP)
    return tmp_path


@pytest.fixture(params=["modules", "packages"])
def generated(request: pytest.FixtureRequest, project: Path) -> Path:
    """The project with two of each, one with a long name; in one module per kind, and in a package per kind."""
    package = Package("shop", project / "shop")
    if request.param == "packages":
        for name in ("jobs", "events", "tasks"):
            (package.folder / name).mkdir()
            (package.folder / name / "__init__.py").touch()
    for name in ("digest_due", LONG):
        write_changes(plan_job(package, f"job_{name}", When("cron", "0 3 * * *")).changes)
        write_changes(plan_event(package, name, When("daily_at", "06:30")).changes)
        listener = plan_listener(package, f"on_{name}", require_event(package, name), Import("proj.celery", "events"))
        write_changes(listener.changes)
    return project


def test_mypy_strict_finds_nothing(generated: Path) -> None:
    require("mypy", "celery-stubs")
    options = ["--strict", "--follow-imports=silent", "--no-error-summary", "--cache-dir", str(ROOT / ".mypy_cache")]
    assert check(generated, "mypy", *options, "-p", "shop") == ""


def test_ruff_finds_nothing_and_would_format_nothing(generated: Path) -> None:
    require("ruff")
    for width in ("88", "120"):
        check(generated, "ruff", "check", "--no-cache", f"--line-length={width}", SELECT, "shop")
        check(generated, "ruff", "format", "--no-cache", f"--line-length={width}", "--diff", "shop")


def test_a_module_that_ruff_was_content_with_stays_so(project: Path) -> None:
    require("ruff")
    (project / "proj/settings.py").touch()
    (project / "shop/events.py").touch()
    (project / "shop/models.py").touch()
    for number, text in enumerate(text for text in all_modules() if "\t" not in text):
        changes = list(CHANGES.items())
        name, change = changes[number % len(changes)]
        (project / f"shop/before_{number}.py").write_text(text)
        (project / f"shop/{name}_{number}.py").write_text(change(read(text)).text)
    check(project, "ruff", "check", "--no-cache", "--select=E,F,W,I,PIE", OF_THE_SAMPLES, "shop")
    check(project, "ruff", "format", "--no-cache", "--diff", "shop")
