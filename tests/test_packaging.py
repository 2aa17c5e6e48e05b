"""What is installed: tox builds the wheel and installs it, so these tests look at the product as a user gets it."""

from importlib.metadata import Distribution
from pathlib import Path

import pytest

import celery_leased_beat

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "celery_leased_beat"


def test_celery_finds_the_scheduler_by_its_short_name(installed: Distribution) -> None:
    (leased,) = installed.entry_points.select(group="celery.beat_schedulers", name="leased")
    assert leased.load() is celery_leased_beat.Scheduler


def test_the_wheel_has_every_source_file_and_nothing_else(installed: Distribution) -> None:
    files = {str(file) for file in installed.files or () if ".dist-info" not in str(file)}
    if not any(file.startswith("celery_leased_beat/") for file in files):
        pytest.skip("installed for editing: there is no copy to look at")
    sources = {PACKAGE / "py.typed", *PACKAGE.rglob("*.py"), *PACKAGE.rglob("*.lua")}
    assert {file for file in files if not file.endswith(".pyc")} == {str(file.relative_to(ROOT)) for file in sources}
