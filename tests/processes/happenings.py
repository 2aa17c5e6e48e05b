"""The events of the app under test."""

from dataclasses import dataclass

from celery_leased_beat import event


@event("stage.tick")
@dataclass(frozen=True)
class Tick:
    """One instant of an entry of the schedule."""

    entry: str


@event("stage.slow")
@dataclass(frozen=True)
class Slow:
    """Something whose listener takes so long, or until its ``gate`` is opened where it has one."""

    seconds: float
    gate: str = ""
