"""Replicas with different schedules, as a rolling deploy has them: who fires, and what is said of it."""

import time

import pytest

from celery_leased_beat.store import Member
from tests.nodes.celery import BeatNode
from tests.nodes.waiting import wait_until
from tests.processes.stage import Stage

TTL = 15.0
#: What both versions have; it is fired every second.
COMMON = {f"tick-{number}": "all" for number in range(5)}
OLD, NEW = {**COMMON, "removed": "all"}, {**COMMON, "new": "all"}
DIFFERS = "the schedule differs from that of"


def members(stage: Stage) -> dict[int, Member]:
    """Return who is on the roll, by the id of his process."""
    records = stage.client.hgetall(f"clb:{{{stage.options.app}}}:replicas")
    found = [Member.parse(name, record.partition(" ")[2]) for name, record in records.items()]
    return {int(one.replica.split()[0].rpartition(":")[2]): one for one in found}


def fired(stage: Stage, entry: str) -> list[float]:
    return [row.due.timestamp() for row in stage.sink.done("first") if row.entry == entry]


def logged(beat: BeatNode, text: str) -> int:
    return beat.logs().count(text)


@pytest.mark.stage(ttl=TTL, entries=COMMON)
def test_a_newer_version_gets_the_lease_long_before_it_would_end_and_nothing_common_is_lost(stage: Stage) -> None:
    old = stage.beats(2, version="1.9", entries=OLD)
    holder = stage.holder()
    stage.handled_each(3)

    new = stage.beats(2, version="1.10", entries=NEW)
    wait_until(lambda: any(beat.pid in members(stage) for beat in new), "the newer version is on the roll")
    seen = time.time()
    wait_until(lambda: any(stage.holds(beat) for beat in new), "the newer version holds", TTL * 2 / 3)
    handed_over = time.time()
    print(f"handed over {handed_over - seen:.2f} s after the newer version came")
    print(f"longest gap around it: {stage.gap_around(seen - 1, time.time() + 1):.2f} s")
    stage.handled_each(5)
    stage.stays(lambda: any(stage.holds(beat) for beat in new), "the newer version holds", 2.0)

    assert len(fired(stage, "new")) >= 2
    assert fired(stage, "removed")
    assert max(fired(stage, "removed")) < handed_over + 1
    assert logged(holder, "handed the lease of term") == 1
    successor = next(beat for beat in new if stage.holds(beat))
    both = [(holder, "1.9", "1.10"), (successor, "1.10", "1.9")]
    wait_until(lambda: all(logged(beat, DIFFERS) for beat, *_ in both), "both sides have said that they differ")
    stage.stays(lambda: all(logged(beat, DIFFERS) <= 1 for beat in stage.replicas), "each says it once", TTL / 2)
    wait_until(lambda: all(logged(beat, DIFFERS) == 1 for beat in old), "each of the old ones has said it")
    for beat, here, there in both:
        line = next(line for line in beat.logs().splitlines() if DIFFERS in line)
        mine, other = ("removed", "new") if here == "1.9" else ("new", "removed")
        assert f"only here: '{mine}'; only there: '{other}' (here version {here}, 8 entries" in line
        assert f"there version {there}, 8 entries" in line
    stage.assert_clean()


@pytest.mark.stage(ttl=TTL, entries=COMMON)
def test_without_versions_the_holder_stays_and_both_say_that_they_differ(stage: Stage) -> None:
    (old,) = stage.beats(1, entries=OLD)
    stage.holder()
    stage.handled_each(2)
    (new,) = stage.beats(1, entries=NEW)
    for beat in (old, new):
        wait_until(lambda beat=beat: logged(beat, DIFFERS), f"{beat.name()} says so")
    assert len({member.digest for member in members(stage).values()}) == 2
    stage.stays(lambda: stage.holds(old) and not fired(stage, "new"), "the old one fires", 3.0)
    assert [logged(beat, DIFFERS) for beat in (old, new)] == [1, 1]

    old.kill("SIGTERM")
    stage.holder(other_than=old, seconds=TTL / 3)
    stopped = time.time()
    stage.handled_each(3)
    assert len(fired(stage, "new")) >= 2
    assert max(fired(stage, "removed")) < stopped + 1
    stage.assert_clean()


@pytest.mark.stage(ttl=TTL, entries=COMMON)
def test_an_older_version_holds_again_when_every_newer_one_is_gone(stage: Stage) -> None:
    (old,) = stage.beats(1, version="1")
    stage.holder()
    (new,) = stage.beats(1, version="2")
    wait_until(lambda: stage.holds(new), "the newer version holds", TTL * 2 / 3)
    stage.handled_each(2)
    new.kill("SIGKILL")
    wait_until(lambda: stage.holds(old), "the older one holds", TTL * 2 / 3)
    stage.handled_each(3)
    stage.assert_clean()


@pytest.mark.stage(ttl=TTL, entries=COMMON)
def test_a_replica_with_an_empty_schedule_gets_nothing_by_being_newer(stage: Stage) -> None:
    (full,) = stage.beats(1, version="1")
    stage.holder()
    (empty,) = stage.beats(1, version="2", entries={})
    wait_until(lambda: logged(full, DIFFERS) and logged(empty, DIFFERS), "both say that they differ")
    assert logged(empty, "the schedule is empty") == 1
    stage.stays(lambda: stage.holds(full), "the one with entries holds", 2.0)
    stage.assert_clean()
