"""What an audit says of a history: each instant once, and by name what is missing or doubled."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from celery_leased_beat.audit import Audit, EntryAudit, Span, audit
from celery_leased_beat.audit.instants import Period, closed
from celery_leased_beat.engine import EntryKey, Position
from celery_leased_beat.fires import fire_id
from celery_leased_beat.plan import Decision, Outcome, Policy, plan
from celery_leased_beat.schedule import Entry, EventTarget
from celery_leased_beat.store import Record, Snapshot
from celery_leased_beat.timing import Cron, Every, Timing
from tests.core import specs
from tests.core.walk import at, walk

TICK = timedelta(microseconds=1)
MINUTE = timedelta(minutes=1)
MINUTELY = Cron("* * * * *", UTC)
#: The history of most tests goes back to here, and its entry was enrolled then.
BEGIN = at("2026-07-01T09:00Z")


def clock(text: str) -> datetime:
    """A time of 1 July 2026, or of another day where it is given: ``10:05``, ``10:05:30``."""
    return at(text if "T" in text else f"2026-07-01T{text}Z")


def record(outcome: str, first: str, last: str = "", count: int = 1, **more: object) -> Record:
    """What the ledger keeps of one decision, made a second after its last instant unless ``at`` says otherwise."""
    begin, end = clock(first), clock(last or first)
    fire = fire_id("shop", str(more.get("entry", "tick")), end) if outcome in ("fired", "failed") else ""
    late = timedelta(seconds=1)
    made = Record(end + late, "tick", outcome, begin, end, count, "", late, 7, "host:1", fire)
    return replace(made, **more)


def fired(*instants: str, **more: object) -> list[Record]:
    return [record("fired", instant, **more) for instant in instants]


def entry(name: str = "tick", timing: Timing = MINUTELY, policy: Policy | None = None) -> Entry:
    return Entry(name, timing, f"job:{name}", EventTarget(name, object), policy=policy or Policy())


@dataclass
class Books:
    """A ledger with one entry that is due every minute."""

    records: Sequence[Record]
    watermark: str = "10:04"
    anchor: datetime = BEGIN
    reaches_back: datetime | None = BEGIN
    serving: str = MINUTELY.key
    now: str = "10:04:30"
    known: bool = True

    def snapshot(self) -> Snapshot:
        key, position = EntryKey("tick", MINUTELY.key), Position(clock(self.watermark), self.anchor)
        return Snapshot(
            now=clock(self.now),
            positions={key: position} if self.known else {},
            serving={"tick": self.serving},
            records=self.records,
            reaches_back=self.reaches_back,
        )

    def audit(self, since: str = "10:00", until: str = "10:05", entries: Iterable[Entry] = (entry(),)) -> Audit:
        window = {"since": clock(since), "until": clock(until)}
        return audit(entries, self.snapshot(), **window, tolerance=timedelta(seconds=30))

    def tick(self, since: str = "10:00", until: str = "10:05") -> EntryAudit:
        (only,) = self.audit(since, until).entries
        return only


def shown(spans: Iterable[Span]) -> list[str]:
    return [f"{span.outcome} {span.first:%H:%M}-{span.last:%H:%M} {span.count}" for span in spans]


ALL_FIRED = fired("10:00", "10:01", "10:02", "10:03", "10:04")


def test_a_history_in_which_each_instant_fired_is_clean() -> None:
    found = Books(ALL_FIRED).audit()
    assert (found.clean, found.missing, found.doubled) == (True, 0, 0)
    (tick,) = found.entries
    assert tick.counts == {"fired": 5}
    assert (tick.terms, tick.holders, tick.largest_lateness) == ((7,), ("host:1",), timedelta(seconds=1))


def test_an_instant_without_a_decision_is_missing() -> None:
    found = Books(fired("10:00", "10:01", "10:03", "10:04")).audit()
    assert (found.clean, found.missing) == (False, 1)
    (tick,) = found.entries
    assert shown(tick.missing) == ["missing 10:02-10:02 1"]
    assert tick.missing[0].reason == "its entry went on without it"


def test_instants_that_lie_together_are_missing_as_one_span() -> None:
    tick = Books(fired("10:00", "10:04")).tick()
    assert shown(tick.spans) == ["fired 10:00-10:00 1", "missing 10:01-10:03 3", "fired 10:04-10:04 1"]


def test_the_window_takes_its_beginning_and_leaves_its_end() -> None:
    assert shown(Books(ALL_FIRED).tick("10:01", "10:03").spans) == ["fired 10:01-10:01 1", "fired 10:02-10:02 1"]
    assert shown(Books([]).tick("10:01", "10:03").missing) == ["missing 10:01-10:02 2"]


def test_a_range_covers_all_its_instants() -> None:
    for outcome in ("coalesced", "skipped"):
        tick = Books([record(outcome, "10:00", "10:03", 4, reason="why"), *fired("10:04")]).tick()
        assert shown(tick.spans) == [f"{outcome} 10:00-10:03 4", "fired 10:04-10:04 1"]
        assert tick.spans[0].reason == "why"
        assert tick.counts == {outcome: 4, "fired": 1}


def test_of_a_range_that_crosses_the_window_only_what_lies_inside_counts() -> None:
    tick = Books([record("coalesced", "09:01", "10:03", 63), *fired("10:04")]).tick("10:00", "10:02")
    assert shown(tick.spans) == ["coalesced 10:00-10:01 2"]


def test_two_decisions_of_one_instant_are_doubled() -> None:
    found = Books([*ALL_FIRED, *fired("10:02", term=8, holder="host:2")]).audit()
    assert (found.clean, found.doubled, found.missing) == (False, 1, 0)
    (doubled,) = found.entries[0].doubled
    assert (doubled.first, doubled.last, doubled.count) == (clock("10:02"), clock("10:02"), 1)
    assert {(one.holder, one.term) for one in doubled.decisions} == {("host:1", 7), ("host:2", 8)}


def test_an_instant_that_was_decided_three_times_is_doubled_once() -> None:
    (doubled,) = Books([*ALL_FIRED, *fired("10:02", "10:02")]).tick().doubled
    assert (doubled.count, len(doubled.decisions)) == (1, 3)


def test_a_range_and_a_fire_inside_it_are_doubled_at_the_fire() -> None:
    (doubled,) = Books([record("coalesced", "10:00", "10:03", 4), *fired("10:01", "10:04")]).tick().doubled
    assert (doubled.first, doubled.last, doubled.count) == (clock("10:01"), clock("10:01"), 1)


def test_a_range_doubles_each_fire_inside_it() -> None:
    tick = Books([record("coalesced", "10:00", "10:04", 5), *fired("10:01", "10:03")]).tick()
    assert [(doubled.first, doubled.count) for doubled in tick.doubled] == [(clock("10:01"), 1), (clock("10:03"), 1)]


def test_two_ranges_are_doubled_where_they_meet() -> None:
    ranges = [record("coalesced", "10:00", "10:03", 4), record("skipped", "10:02", "10:04", 3)]
    (doubled,) = Books(ranges).tick().doubled
    assert (doubled.first, doubled.last, doubled.count) == (clock("10:02"), clock("10:03"), 2)


def test_what_is_doubled_outside_the_window_is_left_out() -> None:
    records = [record("fired", "09:59"), record("fired", "09:59"), *ALL_FIRED]
    assert Books(records).audit().clean


@pytest.mark.parametrize(("outcome", "reason"), [("failed", "ValueError: no"), ("skipped", "past its grace")])
def test_a_fire_that_was_given_up_counts_as_what_ended_it_and_not_twice(outcome: str, reason: str) -> None:
    fire = fire_id("shop", "tick", clock("10:02"))
    given_up = record(outcome, "10:02", reason=reason, fire_id=fire, at=clock("10:09"), late=7 * MINUTE)
    found = Books([*ALL_FIRED, given_up]).audit()
    assert found.clean
    (tick,) = found.entries
    assert tick.counts == {"fired": 4, outcome: 1}
    assert tick.spans[2].reason == reason
    assert tick.largest_lateness == timedelta(seconds=1)


def test_a_fire_whose_claim_is_no_longer_on_record_is_known_by_what_ended_it() -> None:
    failed = record("failed", "10:00")
    assert shown(Books([failed, *ALL_FIRED[1:]]).tick().spans)[0] == "failed 10:00-10:00 1"


def test_instants_before_the_enrolment_are_nobodys() -> None:
    tick = Books(fired("10:03", "10:04"), anchor=clock("10:02")).tick()
    assert shown(tick.spans) == ["fired 10:03-10:03 1", "fired 10:04-10:04 1"]
    assert tick.enrolled == clock("10:02")


def test_a_grid_is_laid_from_the_ledgers_anchor() -> None:
    grid = entry(timing=Every(MINUTE))
    books = Books(fired("10:00:20", "10:02:20"), anchor=clock("09:59:20"), watermark="10:02:20")
    snapshot = replace(books.snapshot(), serving={})
    snapshot = replace(snapshot, positions={EntryKey("tick", "every 60000"): next(iter(snapshot.positions.values()))})
    found = audit([grid], snapshot, since=clock("10:00"), until=clock("10:03"), tolerance=MINUTE)
    assert [span.first for span in found.entries[0].missing] == [clock("10:01:20")]


def test_what_was_due_just_now_is_pending_and_what_nobody_decides_becomes_missing() -> None:
    books = Books(fired("10:00", "10:01"), watermark="10:01", now="10:04:20")
    assert shown(books.tick().spans[2:]) == ["missing 10:02-10:03 2", "pending 10:04-10:04 1"]
    assert books.tick().missing[0].reason == "nobody has decided it so far"


def test_what_is_not_due_yet_is_left_out() -> None:
    assert shown(Books(ALL_FIRED, now="10:04:10").tick(until="11:00").spans) == shown(Books(ALL_FIRED).tick().spans)


def test_what_is_older_than_the_record_is_not_called_missing() -> None:
    trimmed = Books(fired("10:03", "10:04"), reaches_back=clock("10:02:00.5"))
    found = trimmed.audit()
    assert found.clean
    assert found.reaches_back == clock("10:02:00.5")
    assert shown(found.entries[0].spans)[0] == "unrecorded 10:00-10:02 3"
    assert shown(replace(trimmed, records=fired("10:04")).tick().missing) == ["missing 10:03-10:03 1"]


def test_of_a_history_that_was_lost_only_what_no_watermark_has_passed_is_missing() -> None:
    tick = Books([], watermark="10:02", reaches_back=None).tick()
    assert shown(tick.spans) == ["unrecorded 10:00-10:02 3", "missing 10:03-10:04 2"]


def test_what_a_change_of_timing_dropped_is_not_missing() -> None:
    there_and_back = record("retimed", "10:01", "10:03", 0, reason='its timing was "cron 30 * * * * UTC"')
    of_the_other = fired("10:02:30")
    tick = Books([*fired("10:00", "10:01"), *of_the_other, there_and_back, *fired("10:04")]).tick()
    assert tick.counts == {"fired": 4, "retimed": 2}
    assert tick.missing == ()
    assert tick.strange == ()
    assert tick.notes[0].startswith("retimed at")


def test_what_is_served_under_another_timing_is_not_missing() -> None:
    tick = Books(fired("10:00", "10:01"), watermark="10:01", serving="every 1000").tick()
    assert shown(tick.spans[2:]) == ["retimed 10:02-10:04 3"]
    assert tick.notes == ("the ledger serves it under another timing: every 1000",)


def test_an_entry_that_no_holder_has_loaded_has_nothing_missing() -> None:
    found = Books([], known=False).audit()
    assert found.clean
    assert found.entries[0].enrolled is None
    assert found.entries[0].notes == ("the ledger does not know it yet: no holder has loaded it",)


def test_a_watermark_that_was_set_back_is_noted_and_what_it_doubled_is_told() -> None:
    corrected = record("corrected", "10:01:30", "10:30", 0, reason="its watermark was ahead of the clock")
    (tick,) = Books([*ALL_FIRED, corrected, *fired("10:02")]).audit().entries
    assert tick.notes[0].startswith("the watermark was set back")
    assert len(tick.doubled) == 1


def test_what_the_server_has_lost_is_unrecorded_and_not_missing() -> None:
    recalled = record("recalled", "10:00", "10:02", 0, at=clock("10:02:30"))
    (tick,) = Books([*fired("10:00", "10:03"), recalled]).audit().entries
    assert shown(tick.spans) == [
        "fired 10:00-10:00 1", "unrecorded 10:01-10:02 2", "fired 10:03-10:03 1", "missing 10:04-10:04 1",
    ]  # fmt: skip
    assert tick.spans[1].reason == "decided before the server lost it"
    assert tick.notes[0].startswith("the server had lost what was decided")


def test_a_decision_that_does_not_fit_the_timing_is_strange() -> None:
    off = [record("fired", "10:02:30"), record("coalesced", "10:03", "10:04", 3)]
    tick = Books([*fired("10:00", "10:01", "10:02"), *off]).tick()
    assert shown(tick.strange) == ["fired 10:02-10:02 1", "coalesced 10:03-10:04 3"]
    assert tick.missing == ()


def test_an_entry_that_the_code_no_longer_has_is_reported_apart() -> None:
    gone = [*fired("10:01", "10:02", "10:02", entry="gone"), record("coalesced", "10:03", "10:04", 2, entry="gone")]
    found = Books([*ALL_FIRED, *gone]).audit()
    assert [one.name for one in found.entries] == ["tick"]
    (removed,) = found.removed
    assert (removed.name, removed.counts) == ("gone", {"fired": 3, "coalesced": 2})
    assert (found.missing, found.doubled) == (0, 1)


def test_a_window_without_instants_finds_nothing() -> None:
    assert Books(ALL_FIRED).tick("10:00:01", "10:00:59").spans == ()
    assert Books(ALL_FIRED).tick("10:04", "10:04").spans == ()


def test_naive_times_are_refused() -> None:
    with pytest.raises(ValueError, match="naive"):
        audit([], Books([]).snapshot(), since=datetime(2026, 7, 1), until=BEGIN, tolerance=MINUTE)


# Laws. A history is made by the planner itself, in turns at drawn times.

ZONES = st.sampled_from([UTC, ZoneInfo("Europe/Budapest"), ZoneInfo("Australia/Lord_Howe")])
TIMINGS: st.SearchStrategy[Timing] = st.one_of(
    st.builds(Cron, st.one_of(specs.SPECS, st.just("* * * * *"), st.just("*/7 * * * *")), ZONES),
    st.builds(Every, st.integers(1, 500).map(lambda minutes: minutes * MINUTE), st.just(BEGIN)),
)
POLICIES = st.builds(
    Policy,
    st.sampled_from(["latest", "all", "skip"]),
    st.one_of(st.none(), st.integers(0, 90).map(lambda minutes: minutes * MINUTE)),
    st.integers(1, 20),
)
#: Minutes between two turns: often one, now and then an outage. A month of October holds a change of each zone.
TURNS = st.lists(st.one_of(st.just(1), st.integers(1, 60), st.integers(1, 5000)), min_size=1, max_size=30)


@st.composite
def histories(draw: st.DrawFn) -> tuple[Entry, list[Record], datetime]:
    """An entry, what the engine wrote of it from BEGIN on, and the time of the last turn."""
    timing, policy, begin = draw(TIMINGS), draw(POLICIES), BEGIN
    records, watermark, now = [], begin, begin
    for minutes in draw(TURNS):
        serving_since, now = now, now + minutes * MINUTE
        for decision in plan(timing, policy, watermark, now, serving_since, burst=1000):
            records.append(_written(decision, now))
            watermark = decision.last
    return entry(timing=timing, policy=policy), records, now


def _written(decision: Decision, now: datetime) -> Record:
    fire = fire_id("shop", "tick", decision.last) if decision.outcome is Outcome.FIRED else ""
    late = now - decision.last
    return Record(
        now, "tick", decision.outcome, decision.first, decision.last, decision.count, "", late, 1, "host:1", fire
    )


def _audit(one: Entry, records: Sequence[Record], now: datetime) -> EntryAudit:
    position = Position(now, BEGIN)
    snapshot = Snapshot(now, {EntryKey("tick", one.timing.key): position}, {}, records, BEGIN)
    (found,) = audit([one], snapshot, since=BEGIN, until=now + TICK, tolerance=timedelta(0)).entries
    return found


@settings(deadline=None)
@given(histories())
def test_what_the_planner_decides_is_clean_and_each_instant_is_accounted_for(
    history: tuple[Entry, list[Record], datetime],
) -> None:
    one, records, now = history
    found = _audit(one, records, now)
    assert (found.missing, found.doubled, found.strange) == ((), (), ())
    assert sum(found.counts.values()) == one.timing.count(BEGIN, now)
    assert all(earlier.last < later.first for earlier, later in pairwise(found.spans))


@settings(deadline=None)
@given(histories(), st.data())
def test_an_instant_that_is_taken_out_of_the_history_is_missing_and_no_other(
    history: tuple[Entry, list[Record], datetime], data: st.DataObject
) -> None:
    one, records, now = history
    assume(records)
    decided = data.draw(st.sampled_from(records), label="the decision")
    instants = walk(one.timing, decided.first - TICK, decided.last)[:1000]
    lost = data.draw(st.sampled_from(instants), label="the instant")
    found = _audit(one, [*_without(decided, lost, one.timing), *(kept for kept in records if kept is not decided)], now)
    assert [(span.first, span.last, span.count) for span in found.missing] == [(lost, lost, 1)]
    assert (found.doubled, found.strange) == ((), ())


@settings(deadline=None)
@given(histories(), st.data())
def test_an_instant_that_is_decided_again_is_doubled_and_no_other(
    history: tuple[Entry, list[Record], datetime], data: st.DataObject
) -> None:
    one, records, now = history
    assume(records)
    decided = data.draw(st.sampled_from(records), label="the decision")
    again = data.draw(st.sampled_from(walk(one.timing, decided.first - TICK, decided.last)[:1000]), label="the instant")
    found = _audit(one, [*records, _written(Decision(Outcome.FIRED, again, again, 1), now)], now)
    assert [(doubled.first, doubled.last, doubled.count) for doubled in found.doubled] == [(again, again, 1)]
    assert found.missing == ()


def _without(decided: Record, lost: datetime, timing: Timing) -> Iterable[Record]:
    """The same decision as one or two records that leave ``lost`` out."""
    for period in (Period(decided.first - TICK, lost - TICK), Period(lost, decided.last)):
        instants = period.instants(timing)
        if instants:
            first, last, count = instants
            yield replace(decided, first=first, last=last, count=count)


@settings(deadline=None)
@given(TIMINGS, st.integers(0, 20000), st.integers(0, 20000))
def test_the_instants_of_a_period_are_those_of_a_walk(timing: Timing, begin: int, minutes: int) -> None:
    period = Period(BEGIN + begin * MINUTE, BEGIN + (begin + minutes) * MINUTE)
    walked = walk(timing, *period)
    assert period.instants(timing) == ((walked[0], walked[-1], len(walked)) if walked else None)
    if walked:
        assert closed(walked[0], walked[-1]).instants(timing) == period.instants(timing)


def test_a_gap_of_400_days_of_minutes_takes_no_walk() -> None:
    began = datetime.now(UTC)
    period = Period(BEGIN, BEGIN + timedelta(days=400))
    assert period.instants(MINUTELY) == (BEGIN + MINUTE, BEGIN + timedelta(days=400), 576_000)
    assert datetime.now(UTC) - began < timedelta(seconds=1)
