"""Servers that stop: the processes live on, and what was due meanwhile is handled as ``catch_up`` says."""

from datetime import UTC, datetime, timedelta

import pytest

from tests.processes.comparison import JOB
from tests.processes.stage import Stage

#: Longer than a lease, so that no replica can trust one that it had before.
OUTAGE = 9.0
POLICIES = {"all-1": "all", "all-2": "all", "latest": "latest", "skip": "skip"}


@pytest.mark.parametrize("keep_data", [True, False], ids=["with its data", "without its data"])
def test_a_restarted_lease_server_costs_no_instant_and_doubles_none(stage: Stage, keep_data: bool) -> None:
    stage.beats(2)
    stage.holder()
    stage.handled_each(2)
    # What is on its way while the server loses its data is at-least-once, and says so in docs/guarantees.md.
    stage.between_instants()

    stage.lease.restart(keep_data=keep_data)
    stage.holder()
    stage.handled_each(3)

    stage.assert_clean()


@pytest.mark.stage(entries=POLICIES, visibility_timeout=20.0)
@pytest.mark.parametrize("which", ["lease", "broker"])
def test_what_was_due_during_an_outage_is_handled_as_catch_up_says(stage: Stage, which: str) -> None:
    stage.beats(2)
    stage.holder()
    stage.handled_each(2)

    server = getattr(stage, which)
    with stage.supervised() as ended:
        begin = datetime.now(UTC)
        server.stop()
        stage.stays(lambda: True, "an outage", OUTAGE)
        server.start()
        stage.handled_each(3)
        end = datetime.now(UTC)
        # What was unacknowledged comes back after the visibility timeout; Celery 5.5 looks every hundred seconds.
        compared = stage.finish(seconds=150)

    print("workers that ended with their broker:", ended)
    print(compared)
    assert not compared.doubled, str(compared)
    assert not compared.strange, str(compared)
    assert [entry for entry, _, _ in compared.missing if entry.startswith("all") or entry == JOB] == []
    slack = timedelta(seconds=2)
    outside = [(entry, due) for entry, due, _ in compared.missing if not begin - slack <= due <= end]
    assert outside == [], "only what was due during the outage may be left out"
    left_out = {entry: {due for name, due, _ in compared.missing if name == entry} for entry in ("latest", "skip")}
    print({entry: len(instants) for entry, instants in left_out.items()})
    assert len(left_out["latest"]) >= OUTAGE / 2, "older instants of `latest` are left out"
