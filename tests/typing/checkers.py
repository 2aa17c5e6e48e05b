"""Type checkers and linters, as programs that run in a user's project."""

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

from tests.nodes.programs import missing

ROOT = Path(__file__).parents[2]


def require(*modules: str) -> None:
    for module in modules:
        if not find_spec(module):
            missing(f"{module} is not installed; it is in the dependency group types")


def check(project: Path, module: str, *arguments: str) -> str:
    """Run a module in the project, which must end well, and return what it prints."""
    command = [sys.executable, "-m", module, *arguments]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "MYPYPATH": str(ROOT)}
    done = subprocess.run(command, cwd=project, env=environment, capture_output=True, text=True, timeout=200)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
