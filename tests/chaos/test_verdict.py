"""The verdict that the other tests here trust: it allows what the docs do not promise, and that very thing alone."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from celery_leased_beat.engine import EntryKey, Position
from celery_leased_beat.fires import fire_id
from celery_leased_beat.store import Record, Snapshot
from tests.chaos.evidence import Elected, Era, Evidence, Life, Trouble
from tests.chaos.logs import serving_since
from tests.chaos.notes import Note, What
from tests.chaos.programme import entries_of
from tests.chaos.verdict import Verdict, judge

#: A job of each second, so that its fire is its task.
ENTRY = entries_of(1)["second-latest"]
KEY = EntryKey(ENTRY.name, ENTRY.timing.key)
BEGIN = 1_800_000_000.0
WORKER, CHILD, BEAT, NEXT_BEAT = 10, 11, 20, 21
COUNT = 5
#: Long after all that happens here.
END = BEGIN + COUNT + 0.5


def at(seconds: float) -> datetime:
    return datetime.fromtimestamp(BEGIN + seconds, UTC)


def fire(second: int) -> str:
    return fire_id("chaos", ENTRY.name, at(second))


def record(second: int, **changes: Any) -> Record:
    fired = Record(at(second + 0.1), ENTRY.name, "fired", at(second), at(second), 1, "", timedelta(seconds=0.1), 1,
                   f"vm:{BEAT}", fire(second))  # fmt: skip
    return replace(fired, **changes)


def run(second: int, begun: float, ended: float, over: float | None = None, pid: int = CHILD) -> list[Note]:
    about = {"task": fire(second), "entry": ENTRY.name, "handler": "job", "fire": fire(second),
             "instant": at(second).isoformat(), "pid": pid, "parent": WORKER}  # fmt: skip
    notes = [Note(What.BEGUN, at=BEGIN + begun, **about), Note(What.ENDED, at=BEGIN + ended, **about)]
    return notes + ([] if over is None else [Note(What.OVER, at=BEGIN + over, **about)])


def snapshot(*records: Record, anchor: float = 0.0) -> Snapshot:
    watermark = max((one.last for one in records), default=at(anchor))
    return Snapshot(at(COUNT + 60), {KEY: Position(watermark, at(anchor))}, {KEY.name: KEY.timing}, records,
                    records[0].at if records else None)  # fmt: skip


def evidence(**changes: Any) -> Evidence:
    """A run in which each of some seconds was decided and handled once; ``changes`` are what was otherwise."""
    seconds = range(1, COUNT + 1)
    given = Evidence(
        namespace="chaos",
        version=1,
        begun=BEGIN,
        until=END,
        eras=[Era(BEGIN + 60, snapshot(*map(record, seconds)))],
        notes=[note for second in seconds for note in run(second, second + 0.2, second + 0.3, second + 0.4)],
        lives=[Life("worker-1", "worker", WORKER, BEGIN), Life("beat-1", "replica", BEAT, BEGIN)],
        elected=[Elected(BEGIN, 1, BEAT)],
        keys={"state": 1, "task": COUNT},
    )
    return replace(given, **changes)


def wrong(verdict: Verdict) -> list[str]:
    return [ruling.what for ruling in verdict.wrong]


def allowed(verdict: Verdict) -> list[str]:
    return [ruling.what for ruling in verdict.allowed]


def worker(*told: tuple[float, str]) -> Life:
    """A worker that was told to end."""
    ended = max(when for when, _ in told) + 0.05
    signals = [(BEGIN + when, signal) for when, signal in told]
    return Life("worker-1", "worker", WORKER, BEGIN, ended=BEGIN + ended, code=-9, told=signals)


def doubled(**changes: Any) -> Verdict:
    """The verdict on a run in which the third second was handled by two processes."""
    once = [note for note in evidence().notes if note.task != fire(3)]
    again = [*run(3, 3.2, 3.3), *run(3, 30.0, 30.1, 30.2, pid=99)]
    return judge(replace(evidence(notes=[*once, *again]), **changes))


def missing(**changes: Any) -> Verdict:
    """The verdict on a run in which the third second was handled by nobody."""
    notes = [note for note in evidence().notes if note.task != fire(3)]
    return judge(replace(evidence(notes=notes, keys={}), **changes))


def test_a_run_in_which_all_was_done_once_is_clean() -> None:
    verdict = judge(evidence())
    assert (wrong(verdict), allowed(verdict)) == ([], [])


class TestDoubled:
    def test_without_a_reason_it_is_wrong(self) -> None:
        assert wrong(doubled()) == ["doubled"]

    def test_a_process_that_was_killed_after_the_body_allows_it(self) -> None:
        killed = Life("worker-1", "worker", WORKER, BEGIN, killed={CHILD: BEGIN + 3.4})
        assert allowed(doubled(lives=[killed])) == ["doubled"]
        assert allowed(doubled(lives=[worker((3.4, "SIGKILL"))])) == ["doubled"]

    def test_another_process_or_another_time_does_not(self) -> None:
        for killed in ({12: BEGIN + 3.4}, {CHILD: BEGIN + 2.7}):
            assert wrong(doubled(lives=[Life("worker-1", "worker", WORKER, BEGIN, killed=killed)])) == ["doubled"]

    def test_a_marker_that_was_done_before_the_process_died_does_not(self) -> None:
        notes = [*evidence().notes, *run(3, 30.0, 30.1, 30.2, pid=99)]
        assert wrong(doubled(lives=[worker((3.5, "SIGKILL"))], notes=notes)) == ["doubled"]

    @pytest.mark.parametrize(("lost_at", "verdict"), [(10.0, allowed), (3.1, wrong), (31.0, wrong)])
    def test_a_marker_that_was_lost_in_between_allows_it(self, lost_at: float, verdict: Any) -> None:
        records = [record(second) for second in range(1, COUNT + 1)]
        eras = [Era(BEGIN + lost_at, snapshot(*records)), Era(BEGIN + 60, snapshot(anchor=0.0))]
        assert "doubled" in verdict(doubled(eras=eras))

    @pytest.mark.parametrize(
        ("trouble", "verdict"),
        [
            (Trouble("worker-1", "paused", BEGIN + 3.25, BEGIN + 20), allowed),
            (Trouble("worker-1", "paused", BEGIN + 3.25, BEGIN + 10), wrong),
            (Trouble("worker-2", "paused", BEGIN + 3.25, BEGIN + 20), wrong),
            (Trouble("worker-1", "paused", BEGIN - 30, BEGIN + 3), wrong),
        ],
    )
    def test_a_worker_that_stood_still_for_longer_than_its_hold_allows_it(self, trouble: Trouble, verdict: Any) -> None:
        assert verdict(doubled(troubles=[trouble])) == ["doubled"]


class TestMissing:
    def test_without_a_reason_it_is_wrong(self) -> None:
        assert wrong(missing()) == ["missing"]

    def test_a_broken_connection_allows_one_message_that_nobody_received(self) -> None:
        broken = [(BEGIN + 3.2, "worker-1")]
        assert allowed(missing(breaks=broken)) == ["missing"]
        nothing: list[Note] = []
        assert wrong(missing(breaks=broken, notes=nothing)) == ["missing"] * (COUNT - 1)

    def test_a_message_that_was_received_is_not_excused_so(self) -> None:
        assert wrong(missing(breaks=[(BEGIN + 3.2, "worker-1")], received=frozenset({fire(3)}))) == ["missing"]

    def test_a_connection_that_broke_before_is_no_reason(self) -> None:
        assert wrong(missing(breaks=[(BEGIN + 1, "worker-1")])) == ["missing"]

    def test_rabbitmq_loses_none(self) -> None:
        assert wrong(missing(breaks=[(BEGIN + 3.2, "worker-1")], fetched_before_noted=False)) == ["missing"]

    def test_an_intent_is_lost_with_the_data_where_its_holder_had_ended(self) -> None:
        assert allowed(missing(eras=self.lost(fire(3)), lives=[self.beat(ended=3.5)])) == ["missing"]

    def test_an_intent_of_a_holder_that_lives_is_not(self) -> None:
        assert wrong(missing(eras=self.lost(fire(3)), lives=[self.beat()])) == ["missing"]

    @pytest.mark.parametrize(("term", "verdict"), [(1, allowed), (2, wrong)])
    def test_an_intent_of_a_holder_that_comes_back_is_lost_where_it_ended_before_its_first_decision(
        self, term: int, verdict: Any
    ) -> None:
        eras = self.lost(fire(3))
        eras[1] = Era(BEGIN + 60, snapshot(*(record(second, term=term) for second in (4, 5))))
        elected = [Elected(BEGIN, 1, BEAT), Elected(BEGIN + 3.7, 2, BEAT), Elected(BEGIN + 6, 3, NEXT_BEAT)]
        assert verdict(missing(eras=eras, lives=[self.beat(ended=5.5)], elected=elected)) == ["missing"]

    @pytest.mark.parametrize(("serving", "verdict"), [(3.5, allowed), (2.0, wrong)])
    def test_an_intent_of_a_holder_that_lives_is_lost_where_its_lease_went_to_a_replica_that_had_just_begun(
        self, serving: float, verdict: Any
    ) -> None:
        elected = [Elected(BEGIN, 1, BEAT), Elected(BEGIN + 3.9, 2, NEXT_BEAT)]
        since = {BEAT: BEGIN, NEXT_BEAT: BEGIN + serving}
        given = missing(eras=self.lost(fire(3)), lives=[self.beat()], elected=elected, serving=since)
        assert verdict(given) == ["missing"]

    @pytest.mark.parametrize(("kept", "verdict"), [("beat-2", allowed), ("beat-3", wrong)])
    def test_an_intent_of_a_holder_that_lives_is_lost_where_its_lease_went_to_an_earlier_one_that_did_not_work(
        self, kept: str, verdict: Any
    ) -> None:
        elected = [Elected(BEGIN - 9, 0, NEXT_BEAT), Elected(BEGIN, 1, BEAT), Elected(BEGIN + 3.9, 2, NEXT_BEAT)]
        lives = [self.beat(), Life("beat-2", "replica", NEXT_BEAT, BEGIN - 10)]
        hung = [Trouble(kept, "hung", BEGIN + 1, BEGIN + 9)]
        given = missing(eras=self.lost(fire(3)), lives=lives, elected=elected, troubles=hung)
        assert verdict(given) == ["missing"]

    @pytest.mark.parametrize(("since", "until", "verdict"), [(-1, 3.7, allowed), (-1, 3, wrong), (1, 3.7, wrong)])
    def test_an_intent_of_a_holder_that_lives_is_lost_where_its_lease_went_to_an_earlier_one_that_knew_nothing_of_it(
        self, since: float, until: float, verdict: Any
    ) -> None:
        elected = [Elected(BEGIN - 9, 0, NEXT_BEAT), Elected(BEGIN, 1, BEAT), Elected(BEGIN + 3.9, 2, NEXT_BEAT)]
        lives = [self.beat(), Life("beat-2", "replica", NEXT_BEAT, BEGIN - 10)]
        paused = [Trouble("beat-2", "paused", BEGIN + since, BEGIN + until)]
        eras = self.lost(fire(3))
        eras[1] = Era(BEGIN + 60, snapshot(*(record(second, term=2) for second in (4, 5))))
        given = missing(eras=eras, lives=lives, elected=elected, troubles=paused)
        assert verdict(given) == ["missing"]

    def test_what_was_enqueued_is_not_lost_so(self) -> None:
        assert wrong(missing(eras=self.lost(fire(4)), lives=[self.beat(ended=3.5)])) == ["missing"]

    @staticmethod
    def lost(*intents: str) -> list[Era]:
        """The data is lost after the third second; the grid goes on."""
        before, after = snapshot(*map(record, (1, 2, 3))), snapshot(*map(record, (4, 5)))
        return [Era(BEGIN + 3.6, before, frozenset(intents), BEAT), Era(BEGIN + 60, after)]

    @staticmethod
    def beat(ended: float | None = None) -> Life:
        life = Life("beat-1", "replica", BEAT, BEGIN, told=[(BEGIN + (ended or 0), "SIGKILL")] if ended else [])
        return life if ended is None else replace(life, ended=BEGIN + ended, code=-9)


class TestDecisions:
    def test_an_instant_that_nobody_decided_is_wrong(self) -> None:
        era = Era(BEGIN + 60, snapshot(*map(record, (1, 2, 4, 5))))
        notes = [note for note in evidence().notes if note.task != fire(3)]
        assert wrong(judge(evidence(eras=[era], notes=notes, keys={}))) == ["decision missing"]

    def test_an_instant_that_was_decided_twice_is_wrong(self) -> None:
        records = [*map(record, range(1, COUNT + 1)), record(3, term=2)]
        assert "decided twice" in wrong(judge(evidence(eras=[Era(BEGIN + 60, snapshot(*records))])))

    @pytest.mark.parametrize(
        ("lost_at", "holder", "verdict"),
        [(3.5, BEAT, allowed), (3.5, NEXT_BEAT, allowed), (30.0, NEXT_BEAT, allowed), (30.0, BEAT, wrong)],
    )
    def test_a_claim_that_was_lost_may_be_decided_again_but_not_by_who_remembers_it(
        self, lost_at: float, holder: int, verdict: Any
    ) -> None:
        again = record(3, late=timedelta(seconds=40), at=at(43), holder=f"vm:{holder}", term=2)
        eras = [Era(BEGIN + lost_at, snapshot(*map(record, (1, 2, 3)))), Era(BEGIN + 60, snapshot(again))]
        notes = [note for note in evidence().notes if note.task in map(fire, (1, 2, 3))]
        given = evidence(eras=eras, notes=notes, until=BEGIN + 3.5, keys={})
        assert "decided twice" in verdict(judge(given))

    def test_an_outcome_that_the_policy_does_not_call_for_is_wrong(self) -> None:
        skipped = record(3, outcome="skipped", reason="no holder", fire_id="")
        era = Era(BEGIN + 60, snapshot(*map(record, (1, 2)), skipped, *map(record, (4, 5))))
        notes = [note for note in evidence().notes if note.task != fire(3)]
        assert wrong(judge(evidence(eras=[era], notes=notes, keys={}))) == ["against the policy"]

    def test_a_body_that_nobody_decided_is_strange(self) -> None:
        assert wrong(judge(evidence(notes=[*evidence().notes, *run(40, 40.2, 40.3)]))) == ["strange"]

    @pytest.mark.parametrize(("told", "verdict"), [(None, wrong), (3.5, allowed), (3.7, allowed), (6.0, wrong)])
    def test_a_grid_may_begin_anew_where_the_last_holder_went_with_the_data(
        self, told: float | None, verdict: Any
    ) -> None:
        """Told to end, it has done nothing more when its successor is elected, though it may end after that."""
        eras = [
            Era(BEGIN + 3.6, snapshot(*map(record, (1, 2, 3))), holder=BEAT),
            Era(BEGIN + 60, snapshot(anchor=20.0)),
        ]
        notes = [note for second in (1, 2, 3) for note in run(second, second + 0.2, second + 0.3, second + 0.4)]
        elected = [Elected(BEGIN, 1, BEAT), Elected(BEGIN + 4, 2, NEXT_BEAT)]
        life = Life("beat-1", "replica", BEAT, BEGIN, listens=True)
        if told is not None:
            life = replace(life, told=[(BEGIN + told, "SIGTERM")], ended=BEGIN + 7, code=0)
        given = evidence(eras=eras, notes=notes, lives=[life], elected=elected, until=BEGIN + 20, keys={})
        assert verdict(judge(given)) == ["begun anew after a loss of data"]


class TestProcesses:
    def test_one_that_ends_by_itself_is_wrong(self) -> None:
        life = Life("beat-1", "replica", BEAT, BEGIN, ended=BEGIN + 2, code=1)
        assert wrong(judge(evidence(lives=[life]))) == ["ended by itself"]

    @pytest.mark.parametrize(("code", "listens", "rulings"), [
        (0, True, []), (-15, False, []), (-15, True, ["did not end well"]), (1, True, ["did not end well"]),
    ])  # fmt: skip
    def test_a_replica_that_is_told_to_end_ends_well(self, code: int, listens: bool, rulings: list[str]) -> None:
        told = [(BEGIN + 1, "SIGTERM")]
        life = Life("beat-1", "replica", BEAT, BEGIN, ended=BEGIN + 2, code=code, told=told, listens=listens)
        assert wrong(judge(evidence(lives=[life]))) == rulings

    def test_an_excuse_is_for_one_life_and_not_for_another_one_of_the_same_number(self) -> None:
        first, second = (Life(f"worker-{number}", "worker", WORKER, BEGIN + number, ended=BEGIN + 9, code=1)
                         for number in (1, 2))  # fmt: skip
        verdict = judge(evidence(lives=[first, second], excuses={first.key: "Celery's own code failed"}))
        assert (wrong(verdict), allowed(verdict)) == (["ended by itself"], ["ended by itself"])

    @pytest.mark.parametrize(("until", "rulings"), [(100, ["grows"]), (60, [])])
    def test_one_that_goes_on_growing_is_wrong(self, until: int, rulings: list[str]) -> None:
        samples = [(BEGIN + second, 50_000_000 + min(second, until) * 400_000) for second in range(0, 102, 2)]
        assert wrong(judge(evidence(memory={(BEAT, BEGIN): samples}))) == rulings

    def test_an_error_in_a_replicas_log_is_wrong(self) -> None:
        assert wrong(judge(evidence(errors=["Traceback (most recent call last):"]))) == ["error in a replica"]

    @pytest.mark.parametrize("keys", [
        {"task": COUNT + 1}, {"task": COUNT - 1}, {"state": 2}, {"schedule": 3}, {"stranger": 1},
    ])  # fmt: skip
    def test_another_number_of_keys_is_wrong(self, keys: dict[str, int]) -> None:
        assert wrong(judge(evidence(keys=keys))) == ["keys"]


def test_a_replica_serves_from_its_own_line_in_the_log_of_its_name_on() -> None:
    line = "[{:%Y-%m-%d %H:%M:%S},250: INFO/MainProcess] beat: Starting..."
    log = "\n".join(["banner", line.format(at(1)), "[2027-01-15 08:00:05,000: INFO/x] x", line.format(at(8))])
    lives = [
        Life("beat-1", "replica", pid, BEGIN + begun, ended=BEGIN + begun + 5) for pid, begun in ((20, 0), (21, 7))
    ]
    assert [serving_since(life, log) for life in lives] == [BEGIN + 1.25, BEGIN + 8.25]
    assert serving_since(replace(lives[0], ended=BEGIN + 1), log) is None
