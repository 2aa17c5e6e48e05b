"""Waiting on a condition, with a deadline: no test sleeps for luck."""

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")

#: Seconds between two looks.
PERIOD = 0.05


def wait_until(condition: Callable[[], T], what: str, seconds: float = 30.0) -> T:
    """Return the first true answer of ``condition``; fail with ``what`` when none came within ``seconds``."""
    deadline = time.monotonic() + seconds
    while not (answer := condition()):
        if time.monotonic() > deadline:
            raise AssertionError(f"not within {seconds:g} s: {what}")
        time.sleep(PERIOD)
    return answer


def holds_for(condition: Callable[[], object], what: str, seconds: float) -> None:
    """Fail with ``what`` as soon as ``condition`` is false within the next ``seconds``."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        assert condition(), f"not for {seconds:g} s: {what}"
        time.sleep(PERIOD)
