"""The house's rules, as tests: imports flow one way, modules stay small, the public surface is what it says."""

import ast
import importlib
import pkgutil
import statistics
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import celery_leased_beat

ROOT = Path(__file__).parents[1]
PYPROJECT = str(ROOT / "pyproject.toml")
PACKAGE = ROOT / "celery_leased_beat"
TESTS = ROOT / "tests"
LONGEST_MODULE = 250

MODULES = [celery_leased_beat.__name__] + [
    module.name for module in pkgutil.walk_packages(celery_leased_beat.__path__, f"{celery_leased_beat.__name__}.")
]


def lines(file: Path) -> int:
    return len(file.read_text().splitlines())


def sources() -> list[Path]:
    return sorted([*PACKAGE.rglob("*.py"), *PACKAGE.rglob("*.lua")])


def imported(file: Path) -> Iterator[str]:
    """The dotted names of all that a module imports."""
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def test_imports_flow_one_way_and_the_core_knows_neither_celery_nor_redis() -> None:
    # In a process of its own: it configures logging, and disables the loggers that other tests listen to.
    command = f"from importlinter.cli import lint_imports; raise SystemExit(lint_imports({PYPROJECT!r}, no_cache=True))"
    linted = subprocess.run([sys.executable, "-c", command], cwd=ROOT, capture_output=True, text=True, check=False)
    assert linted.returncode == 0, linted.stdout + linted.stderr


def test_no_module_of_tests_imports_from_a_module_with_tests() -> None:
    """What two of them need has a module of its own, beside its like."""
    imports = [(str(file.relative_to(ROOT)), name) for file in sorted(TESTS.rglob("*.py")) for name in imported(file)]
    assert [(file, name) for file, name in imports if ".test_" in f".{name}"] == []


def test_no_module_is_longer_than_250_lines() -> None:
    assert {file.relative_to(ROOT): lines(file) for file in sources() if lines(file) > LONGEST_MODULE} == {}


def test_the_median_module_is_reported(record_property: Callable[[str, object], None]) -> None:
    sizes = [lines(file) for file in sources() if file.suffix == ".py" and file.name != "__init__.py"]
    median = statistics.median(sizes)
    record_property("median module", median)
    print(f"{len(sizes)} modules, {sum(sizes)} lines, median {median:g}, longest {max(sizes)}")
    assert median <= 150


@pytest.mark.parametrize("name", MODULES)
def test_every_name_in_all_is_there_and_listed_once(name: str) -> None:
    module = importlib.import_module(name)
    names = getattr(module, "__all__", [])
    assert [public for public in names if not hasattr(module, public)] == []
    assert len(names) == len(set(names))


def test_the_package_hands_on_what_the_readme_uses() -> None:
    assert {"Events", "Schedule", "Scheduler", "event"} <= set(celery_leased_beat.__all__)


def test_the_package_imports_no_beat_until_the_scheduler_is_asked_for() -> None:
    code = "import sys, celery_leased_beat; sys.exit('celery.beat' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=False).returncode == 0
