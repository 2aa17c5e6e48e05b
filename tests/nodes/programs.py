"""Programs of the system, and packages, that a test needs."""

import os
import shutil
from importlib.util import find_spec
from pathlib import Path
from typing import NoReturn

import pytest


def require(name: str) -> Path:
    """Return the path of the program ``name``; without it the test is skipped, and fails where CI is set."""
    found = shutil.which(name)
    if not found:
        missing(f"{name} is not installed")
    return Path(found)


def require_module(name: str) -> None:
    """Let a test go on where the module ``name`` can be imported; else as above."""
    if find_spec(name) is None:
        missing(f"{name} is not installed")


def missing(reason: str) -> NoReturn:
    """End the test for want of something: a skip on a developer's machine, a failure where CI is set."""
    if os.environ.get("CI"):
        pytest.fail(reason, pytrace=False)
    pytest.skip(reason)
