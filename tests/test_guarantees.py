"""docs/guarantees.md names, for each failure, tests that are there."""

import re
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
PAGE = TESTS.parent.joinpath("docs", "guarantees.md").read_text()
ROWS = [line.strip("|").split(" | ") for line in PAGE.splitlines() if line.startswith("| ")]
FAILURES = [row for row in ROWS if row[0].strip() not in ("what fails", "---")]


def test_there_is_a_table_of_failures() -> None:
    assert len(FAILURES) > 20
    assert {len(row) for row in ROWS} == {5}


@pytest.mark.parametrize("row", FAILURES, ids=lambda row: row[0].strip()[:60])
def test_each_failure_has_a_test_that_shows_it(row: list[str]) -> None:
    named = re.findall(r"`(\S+)`", row[-1])
    assert named, "name the test that shows it, as folder/test_file"
    assert [name for name in named if not (TESTS / f"{name}.py").is_file()] == []
