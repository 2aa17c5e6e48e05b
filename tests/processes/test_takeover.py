"""A holder that goes, in one way or another: what was due is handled once, by every listener."""

import time

import pytest

from tests.processes.stage import Stage

#: The lease of the documentation: longer than any gap that a test here may show.
TTL = 15.0

#: Holders that are killed one after the other, each at another moment of its turn.
KILLS = 12


@pytest.mark.stage(ttl=TTL)
def test_a_killed_holder_is_followed_long_before_its_lease_ends(stage: Stage) -> None:
    stage.beats(3)
    holder = stage.holder()
    standbys = [node for node in stage.replicas if node.ready() and node is not holder]
    before = [node.logs() for node in standbys]
    stage.handled_each(3)
    assert [node.logs() for node in standbys] == before, "a standby writes nothing"

    killed = time.time()
    holder.pause()  # else it may renew the lease, and with it its end
    assert stage.client.persist(stage.lease_key), "from here on only a death that is seen hands it over"
    holder.kill("SIGKILL")
    successor = stage.holder(other_than=holder)
    stage.handled_each(3)

    report(stage, "SIGKILL", killed)
    assert stage.holds(successor)
    stage.assert_clean()


@pytest.mark.stage(ttl=TTL)
def test_a_holder_that_is_told_to_go_hands_the_lease_on_at_once(stage: Stage) -> None:
    stage.beats(3)
    holder = stage.holder()
    stage.handled_each(3)

    told = time.time()
    holder.kill("SIGTERM")
    assert holder.wait_ended() == 0
    stage.holder(other_than=holder, seconds=TTL / 3)
    stage.handled_each(3)

    report(stage, "SIGTERM", told)
    stage.assert_clean()


@pytest.mark.stage(ttl=TTL)
def test_holders_killed_around_a_due_instant_lose_none_and_double_none(stage: Stage) -> None:
    stage.beats(3)
    for moment in range(KILLS):
        holder = stage.holder()
        stage.handled_each(2)
        # From just before an instant to just after its claim, its publish and its commit.
        last = max(row.due for row in stage.sink.done("first")).timestamp()
        time.sleep((last - time.time()) % stage.options.interval + (moment - KILLS / 2) * 0.005)
        holder.kill("SIGKILL")
        stage.beats(1)
    stage.handled_each(3)
    stage.assert_clean()


@pytest.mark.stage(ttl=2.0)
def test_a_holder_that_is_paused_past_its_lease_wakes_as_a_standby_ten_times(stage: Stage) -> None:
    stage.beats(2)
    for _ in range(10):
        holder = stage.holder()
        stage.handled_each(1)
        holder.pause()
        other = stage.holder(other_than=holder)
        stage.handled_each(1)
        holder.resume()
        stage.stays(lambda other=other: stage.holds(other), "the other one holds the lease", 0.5)
    stage.assert_clean()


def report(stage: Stage, what: str, since: float) -> None:
    """Print the gap; a busy machine makes no law of it."""
    print(f"longest gap around {what}: {stage.gap_around(since - 1, time.time()):.2f} s")
