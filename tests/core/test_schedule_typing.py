"""What a type checker sees: run it over this file too (``mypy --strict``); pytest runs it as it stands."""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import assert_type

import pytest

from celery_leased_beat.errors import OptionError
from celery_leased_beat.events import event
from celery_leased_beat.fires import Fire
from celery_leased_beat.schedule import ScheduleBuilder


@event("shop.typed")
@dataclass(frozen=True)
class Typed:
    number: int = 0


class Bound(ScheduleBuilder):
    """A schedule of one's own: the methods return it, not the builder."""


def test_types_survive_the_decorators() -> None:
    schedule = Bound()

    @schedule.job("a", "@daily", queue="x")
    def handler(fire: Fire) -> int:
        return fire.attempt

    def other() -> str:
        return ""

    assert_type(handler(fire=Fire("id", "a", datetime(2026, 1, 1, tzinfo=UTC))), int)
    assert_type(schedule.job("b", "@daily", other), Bound)
    assert_type(schedule.job("c", "@daily")(other)(), str)
    assert_type(schedule.daily(Typed(5)), Bound)
    assert_type(Typed(5).number, int)


def test_a_checker_knows_the_options() -> None:
    with pytest.raises(OptionError):
        Bound().daily(Typed(), queu="x")  # type: ignore[call-arg]
    with pytest.raises(OptionError):
        Bound().job("a", "@daily", print, timeout="5m")  # type: ignore[call-overload]
