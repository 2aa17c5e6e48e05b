"""What an audit says of Celery's schedules: those that go by the time are held against it, others can only be shown."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from celery import Celery
from celery.schedules import BaseSchedule, crontab, schedstate, schedule, solar

from celery_leased_beat.audit import EntryAudit, audit
from celery_leased_beat.binding.timings import to_timing
from celery_leased_beat.engine import EntryKey, Position
from celery_leased_beat.plan import Policy, plan
from celery_leased_beat.schedule import Entry, EventTarget
from celery_leased_beat.store import Record, Snapshot
from celery_leased_beat.timing import TICK, Timing
from tests.core.walk import at

BEGIN, END = at("2026-07-01T09:00:00.500Z"), at("2026-07-06T09:00:00.500Z")
STEP = timedelta(hours=1)


class SinceTheLast(BaseSchedule):
    """What people write themselves: so many seconds after it ran last."""

    def is_due(self, last_run_at: datetime) -> Any:
        rest = 5000 - (self.now() - last_run_at).total_seconds()
        return schedstate(rest <= 0, rest if rest > 0 else 5000)

    def __repr__(self) -> str:
        return "<since the last>"


BY_THE_TIME = {
    "solar": solar("sunset", 47.5, 19),
    "relative hours": schedule(timedelta(hours=5), relative=True),
    "relative days": schedule(timedelta(days=1), relative=True),
    "an interval": schedule(timedelta(minutes=70)),
    "a crontab": crontab(minute="*/20"),
}


def timing_of(written: Any) -> Timing:
    app = Celery("plain", broker="memory://", set_as_current=False)
    app.conf.timezone = "Europe/Budapest"
    return to_timing(written, app)


def decided(timing: Timing) -> list[Record]:
    """The history of a holder that looks now and then: from the entry's first hour to the end."""
    timing, watermark, now, records = timing.anchored(BEGIN), BEGIN, BEGIN, []
    while now < END:
        now = min(now + STEP, END)
        for one in plan(timing, Policy("all"), watermark, now, BEGIN, 1000):
            watermark = one.last
            late, fire = now - one.last, one.last.isoformat()
            records.append(Record(now, "tick", str(one.outcome), one.first, one.last, 1, "", late, 7, "host:1", fire))
    return records


def audited(timing: Timing, records: Sequence[Record], since: datetime = BEGIN) -> EntryAudit:
    key = EntryKey("tick", timing.key)
    watermark = max(record.last for record in records)
    snapshot = Snapshot(END, {key: Position(watermark, BEGIN)}, {"tick": timing.key}, records, BEGIN)
    entry = Entry("tick", timing, "job:tick", EventTarget("tick", object))
    (only,) = audit([entry], snapshot, since=since, until=END, tolerance=STEP).entries
    return only


@pytest.mark.parametrize("written", BY_THE_TIME.values(), ids=BY_THE_TIME)
def test_what_goes_by_the_time_is_held_against_it(written: Any) -> None:
    timing = timing_of(written)
    records = decided(timing)
    whole = audited(timing, records)
    assert (whole.missing, whole.strange, whole.notes) == ((), (), ())
    assert whole.counts["fired"] == len(records) > 3

    lost = audited(timing, [*records[:2], *records[3:]])
    assert [span.first for span in lost.missing] == [records[2].first]
    assert lost.strange == ()

    for since in (records[1].first, records[1].first + TICK, BEGIN + (END - BEGIN) / 2):
        late = audited(timing, records, since)
        assert (late.missing, late.strange) == ((), ())
        assert late.counts["fired"] == sum(record.first >= since for record in records)


def test_of_what_goes_by_something_else_only_the_decisions_are_told() -> None:
    timing = timing_of(SinceTheLast())
    records = decided(timing)
    for history in (records, [*records[:2], *records[3:]]):
        for since in (BEGIN, BEGIN + (END - BEGIN) / 2):
            found = audited(timing, history, since)
            assert found.counts == {"fired": sum(record.first >= since for record in history)}
            assert (found.missing, found.strange) == ((), ())
            (note,) = found.notes
            assert note.endswith("which instants are missing or strange cannot be told")


def test_a_range_of_it_that_begins_before_the_window_is_shown_as_it_was_decided() -> None:
    first, last = BEGIN + STEP, BEGIN + 3 * STEP
    coalesced = Record(last, "tick", "coalesced", first, last, 3, "older", STEP, 7, "host:1", "")
    timing = timing_of(SinceTheLast())
    (span,) = audited(timing, [coalesced], since=BEGIN + 2 * STEP).spans
    assert (span.first, span.last, span.count) == (first, last, 3)


def test_what_was_decided_twice_is_told_of_it_too() -> None:
    timing = timing_of(SinceTheLast())
    records = decided(timing)
    (twice,) = audited(timing, [*records, records[4]]).doubled
    assert (twice.first, twice.last, twice.count) == (records[4].first, records[4].last, 1)


def test_a_sunset_is_told_from_within_the_second_that_it_is_rounded_up_to() -> None:
    timing = timing_of(BY_THE_TIME["solar"]).anchored(BEGIN)
    assert timing.count(BEGIN, END)
    sunset = timing.next_after(BEGIN)
    assert sunset is not None
    assert timing.anchored(BEGIN).count(sunset - TICK, sunset) == 1
    assert timing.anchored(BEGIN).count(sunset, sunset + STEP) == 0
    assert sunset.tzinfo is UTC
