"""The events of the app under test, and how the slow one is dispatched from outside."""

from dataclasses import dataclass

from celery import Celery

from celery_leased_beat import Events, event


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


def dispatch_slow(broker: str, seconds: float, *, gate: str = "") -> str:
    """Dispatch a ``Slow`` as a web process would, which knows no listener; return the envelope's id."""
    app = Celery("stage", broker=broker)
    try:
        return Events(app).dispatch(Slow(seconds, gate))
    finally:
        app.close()
