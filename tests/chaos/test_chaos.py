"""Faults at random against real replicas, real workers and real servers: nothing is missing and nothing doubled.

``pytest tests/chaos --chaos-minutes 30 --chaos-seed 7 --chaos-broker valkey``; see docs/chaos.md.
"""

import pickle
from pathlib import Path

import pytest

from tests.chaos.options import BROKERS
from tests.chaos.run import calm, perform
from tests.chaos.scene import Scene
from tests.chaos.verdict import judge

#: How long faults happen in the suite, in seconds.
SHORT = 30.0


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run on the broker that is asked for, else on each."""
    asked = metafunc.config.getoption("chaos_broker", None)
    metafunc.parametrize("broker_name", [asked] if asked else BROKERS)


def test_no_fire_is_lost_and_none_doubled_whatever_fails(
    scene: Scene, pytestconfig: pytest.Config, tmp_path: Path, broker_name: str
) -> None:
    seconds = pytestconfig.getoption("chaos_minutes", 0.0) * 60 or SHORT
    seed = pytestconfig.getoption("chaos_seed", 1)
    performed = perform(scene, seconds, seed, strict=pytestconfig.getoption("chaos_strict", False))
    evidence = calm(scene)
    # For whoever analyses the run: to be judged again.
    tmp_path.joinpath("evidence.pickle").write_bytes(pickle.dumps(evidence))
    verdict = judge(evidence)
    print(f"{broker_name}, seed {seed}, {seconds:.0f} s, {performed} faults: {verdict}")
    assert not verdict.wrong, f"{broker_name}, seed {seed}: {verdict}"
