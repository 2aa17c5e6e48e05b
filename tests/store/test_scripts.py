"""What the scripts have in common: a script cannot include another, so each writes these numbers down for itself."""

import re
from collections import defaultdict
from datetime import timedelta
from importlib.resources import files

import pytest

from celery_leased_beat.engine.turn import CLOCK_STEP

CONSTANT = re.compile(r"local (RECORDS|KEPT|AHEAD)\s*=\s*(\d+)")


@pytest.fixture(scope="module")
def constants() -> dict[str, dict[str, int]]:
    """By the constant's name, its value in each script that has it."""
    found: dict[str, dict[str, int]] = defaultdict(dict)
    for file in files("celery_leased_beat.store").iterdir():
        if file.name.endswith(".lua"):
            for name, value in CONSTANT.findall(file.read_text("utf-8")):
                found[name][file.name] = int(value)
    return found


@pytest.mark.parametrize("name", ["RECORDS", "KEPT"])
def test_a_constant_of_several_scripts_has_one_value(constants: dict[str, dict[str, int]], name: str) -> None:
    assert len(constants[name]) > 1
    assert len(set(constants[name].values())) == 1, constants[name]


def test_a_watermark_is_ahead_from_where_the_engine_takes_a_clock_for_set_back(
    constants: dict[str, dict[str, int]],
) -> None:
    assert set(constants["AHEAD"].values()) == {CLOCK_STEP // timedelta(milliseconds=1)}
