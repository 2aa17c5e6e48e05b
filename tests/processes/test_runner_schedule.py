"""A runner that is given a Schedule serves that one, and workers get its fires as any others."""

from collections.abc import Iterator
from datetime import timedelta

import pytest
from celery import Celery

from celery_leased_beat import Runner, Schedule
from tests.processes.comparison import JOB
from tests.processes.happenings import Tick
from tests.processes.stage import Stage

ENTRIES = {"given": "all"}


@pytest.fixture
def app(stage: Stage) -> Iterator[Celery]:
    """The app under test as another process has it: its tasks are the workers' alone, and it has no Schedule."""
    app = Celery(stage.options.app, broker=stage.options.broker, set_as_current=False)
    app.conf.update(leased_beat_backend=stage.options.backend, leased_beat_lease_ttl=stage.options.ttl)
    yield app
    app.close()


@pytest.mark.stage(entries=ENTRIES, workers=1)
def test_a_schedule_that_is_given_is_served(stage: Stage, app: Celery) -> None:
    interval = timedelta(seconds=stage.options.interval)
    given = Schedule()
    for name, catch_up in ENTRIES.items():
        given.every(interval, Tick(name), name=name, catch_up=catch_up)
    given.job(JOB, interval, not_here, catch_up="all")

    with Runner(app, given) as runner:
        assert {*ENTRIES, JOB} <= runner.entries.keys()
        stage.handled_each(3)
        stage.assert_clean()
    assert {row.entry for row in stage.sink.rows()} == {*ENTRIES, JOB}


def not_here() -> None:
    raise AssertionError("the workers have a body of their own for it")
