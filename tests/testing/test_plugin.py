"""The pytest plugin, as pytest loads it, and the examples of docs/testing.md, as a user runs them."""

import os
import re
import subprocess
import sys
from importlib.metadata import Distribution
from pathlib import Path

ROOT = Path(__file__).parents[2]
PLUGIN = "celery_leased_beat.pytest_plugin"


def blocks(page: str) -> list[str]:
    """The Python examples of a page."""
    return re.findall(r"```python\n(.*?)```", (ROOT / page).read_text(), re.DOTALL)


def run(folder: Path, *arguments: str) -> str:
    """Run Python in a folder, which must end well, and return what it prints."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    command = [sys.executable, *arguments]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_examples_of_the_page_run(tmp_path: Path) -> None:
    (tmp_path / "shop.py").write_text(blocks("README.md")[0])
    (tmp_path / "test_shop.py").write_text("\n\n".join(blocks("docs/testing.md")))
    assert "4 passed" in run(tmp_path, "-m", "pytest", "-p", PLUGIN, "-W", "error", "test_shop.py")


def test_the_plugin_imports_no_celery_until_its_fixture_is_asked_for(tmp_path: Path) -> None:
    heavy = "{'celery', 'kombu', 'redis', 'croniter', 'cattrs', 'celery_leased_beat.testing'}"
    assert run(tmp_path, "-c", f"import sys, {PLUGIN}; print({heavy} & set(sys.modules))") == "set()\n"


def test_pytest_finds_the_plugin(installed: Distribution) -> None:
    (plugin,) = installed.entry_points.select(group="pytest11", name="leased_beat")
    assert plugin.value == PLUGIN
