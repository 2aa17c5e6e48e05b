"""A new term reads where each entry stands, and enrols what is new."""

from collections.abc import Callable
from datetime import datetime, timedelta

import pytest
import redis

from celery_leased_beat.engine import EntryKey, Position, Term
from celery_leased_beat.errors import FencedError, StoreError
from celery_leased_beat.fires import from_milliseconds, to_milliseconds
from celery_leased_beat.store import Keys, Lease, Ledger, LedgerReader, Record
from tests.store.conftest import REPLICA, records, server_milliseconds, take

NIGHTLY = EntryKey("nightly: report", "cron 0 3 * * * UTC")
LATER = EntryKey("nightly: report", "cron 0 4 * * * UTC")
SYNC = EntryKey("sync", "every 900000")
DAY = timedelta(days=1)
MILLISECOND = timedelta(milliseconds=1)


@pytest.fixture
def now(client: redis.Redis) -> Callable[[], datetime]:
    return lambda: from_milliseconds(server_milliseconds(client))


def position_of(ledger: Ledger, term: Term, key: EntryKey) -> Position:
    return ledger.load(term, [key], {}, resume=False).positions[key]


def put(client: redis.Redis, keys: Keys, key: EntryKey, watermark: datetime, anchor: datetime, term: int = 1) -> None:
    """Write the state of ``key`` as an older term left it, in force."""
    field = f"{len(key.name)}:{key.name}:{key.timing}"
    client.hset(keys.state, field, f"{to_milliseconds(watermark)} {to_milliseconds(anchor)} {term}")
    client.hset(keys.current, key.name, key.timing)


def facts(record: Record) -> tuple[object, ...]:
    return record.entry, record.outcome, record.first, record.last, record.count, record.term, record.holder


# Enrolment


def test_a_new_entry_begins_now(ledger: Ledger, term: Term, now: Callable[[], datetime]) -> None:
    before = now()
    found = position_of(ledger, term, SYNC)
    assert before <= found.watermark == found.anchor <= now()


def test_a_known_entry_stands_where_it_stood(ledger: Ledger, term: Term) -> None:
    first = position_of(ledger, term, SYNC)
    assert position_of(ledger, term, SYNC) == first


def test_a_later_term_finds_what_an_earlier_one_left(ledger: Ledger, term: Term, lease: Lease) -> None:
    first = position_of(ledger, term, SYNC)
    lease.release(term.token)
    assert position_of(ledger, take(lease, "token-2"), SYNC) == first


def test_a_name_may_be_anything(ledger: Ledger, term: Term) -> None:
    names = ["a:b", "3:x", "árvíztűrő", "a b", "{}", "", "\n", "%s"]
    loaded = ledger.load(term, [EntryKey(name, "every 1000") for name in names], {}, resume=False)
    again = ledger.load(term, [EntryKey(name, "every 1000") for name in names], {}, resume=False)
    assert len(loaded.positions) == len(names)
    assert again.positions == loaded.positions


def test_thousands_of_entries_come_in_one_round_trip(ledger: Ledger, term: Term, client: redis.Redis) -> None:
    entries = [EntryKey(f"entry {number}", "every 1000") for number in range(1203)]
    ledger.load(term, entries, {}, resume=False)
    client.config_resetstat()
    assert list(ledger.load(term, entries, {}, resume=False).positions) == entries
    assert client.info("commandstats")["cmdstat_evalsha"]["calls"] == 5


def test_an_empty_schedule_loads_nothing(ledger: Ledger, term: Term) -> None:
    assert not ledger.load(term, [], {}, resume=False).positions


# What the replica remembers


def test_a_watermark_that_the_ledger_gives_lower_is_brought_forward(
    ledger: Ledger, term: Term, client: redis.Redis, keys: Keys, now: Callable[[], datetime]
) -> None:
    put(client, keys, SYNC, now() - DAY, now() - 2 * DAY)
    seen = Position(now() - timedelta(hours=1), now() - 3 * DAY)
    loaded = ledger.load(term, [SYNC], {SYNC: seen}, resume=False)
    assert loaded.positions[SYNC].watermark == seen.watermark
    assert loaded.positions[SYNC].anchor < seen.watermark - DAY
    assert loaded.notes == []


def test_what_the_server_has_lost_is_on_record_as_recalled(
    ledger: Ledger, term: Term, client: redis.Redis, keys: Keys, now: Callable[[], datetime], reader: LedgerReader
) -> None:
    known, seen = now() - DAY, Position(now() - timedelta(hours=1), now() - 3 * DAY)
    put(client, keys, SYNC, known, now() - 2 * DAY)
    for _ in range(2):
        ledger.load(term, [SYNC], {SYNC: seen}, resume=False)
    (record,) = records(reader)
    assert facts(record) == (SYNC.name, "recalled", known, seen.watermark, 0, term.number, REPLICA)


def test_where_the_state_alone_was_lost_all_since_the_entry_was_enrolled_is_recalled(
    ledger: Ledger, term: Term, client: redis.Redis, keys: Keys, now: Callable[[], datetime], reader: LedgerReader
) -> None:
    put(client, keys, NIGHTLY, now() - DAY, now() - DAY)
    ledger.load(term, [LATER], {}, resume=False)
    seen = Position(now() - timedelta(hours=1), now() - 3 * DAY)
    ledger.load(term, [SYNC], {SYNC: seen}, resume=True)
    assert [(record.outcome, record.first, record.last) for record in records(reader)[1:]] == [
        ("recalled", seen.anchor, seen.watermark)
    ]


def test_where_the_history_was_lost_too_it_begins_anew(
    ledger: Ledger, term: Term, now: Callable[[], datetime], reader: LedgerReader
) -> None:
    seen = Position(now() - timedelta(hours=1), now() - 3 * DAY)
    ledger.load(term, [SYNC], {SYNC: seen}, resume=True)
    assert records(reader) == []


def test_a_watermark_that_the_ledger_gives_higher_counts(
    ledger: Ledger, term: Term, client: redis.Redis, keys: Keys, now: Callable[[], datetime]
) -> None:
    watermark = now() - timedelta(hours=1)
    put(client, keys, SYNC, watermark, watermark)
    seen = {SYNC: Position(now() - DAY, now() - DAY)}
    assert ledger.load(term, [SYNC], seen, resume=True).positions[SYNC].watermark == watermark


def test_after_a_loss_of_data_the_last_holder_goes_on_where_it_stood(
    ledger: Ledger, term: Term, now: Callable[[], datetime]
) -> None:
    seen = Position(now() - timedelta(minutes=2), now() - DAY)
    assert ledger.load(term, [SYNC], {SYNC: seen}, resume=True).positions[SYNC] == seen


def test_after_a_loss_of_data_anybody_else_begins_now(ledger: Ledger, term: Term, now: Callable[[], datetime]) -> None:
    before = now()
    seen = Position(now() - timedelta(minutes=2), now() - DAY)
    found = ledger.load(term, [SYNC], {SYNC: seen}, resume=False).positions[SYNC]
    assert before <= found.watermark == found.anchor


# Retimed entries


def test_a_retimed_entry_begins_now_and_what_it_drops_is_recorded(
    ledger: Ledger, term: Term, client: redis.Redis, keys: Keys, now: Callable[[], datetime], reader: LedgerReader
) -> None:
    former, before = now() - DAY, now()
    put(client, keys, NIGHTLY, former, former)
    loaded = ledger.load(term, [LATER], {}, resume=False)
    found = loaded.positions[LATER]
    assert before <= found.watermark == found.anchor <= now()
    (record,) = records(reader)
    assert facts(record) == (NIGHTLY.name, "retimed", former, found.watermark, 0, term.number, REPLICA)
    assert NIGHTLY.timing in record.reason
    (note,) = loaded.notes
    assert NIGHTLY.name in note
    assert former.isoformat() in note


def test_a_retimed_entry_begins_after_what_was_decided_for_it(
    ledger: Ledger, term: Term, client: redis.Redis, keys: Keys, now: Callable[[], datetime]
) -> None:
    ahead = now() + timedelta(seconds=30)
    put(client, keys, NIGHTLY, ahead, now() - DAY)
    assert position_of(ledger, term, LATER) == Position(ahead, ahead)


def test_in_a_rolling_deploy_each_version_finds_its_own(
    ledger: Ledger, term: Term, client: redis.Redis, keys: Keys, now: Callable[[], datetime]
) -> None:
    put(client, keys, NIGHTLY, now() - DAY, now() - 9 * DAY)
    later = position_of(ledger, term, LATER)
    again = position_of(ledger, term, NIGHTLY)
    assert (now() - again.anchor) >= 9 * DAY
    assert position_of(ledger, term, LATER) == later


def test_no_instant_is_decided_again_where_a_timing_comes_back(
    ledger: Ledger, term: Term, client: redis.Redis, keys: Keys, now: Callable[[], datetime], reader: LedgerReader
) -> None:
    put(client, keys, NIGHTLY, now() - 3 * DAY, now() - 9 * DAY)
    decided = position_of(ledger, term, LATER).watermark
    loaded = ledger.load(term, [NIGHTLY], {}, resume=False)
    assert loaded.positions[NIGHTLY].watermark == decided
    assert len(loaded.notes) == 1
    assert [record.outcome for record in records(reader)] == ["retimed", "retimed"]


def test_a_retimed_entry_whose_former_state_is_gone_begins_now(
    ledger: Ledger, term: Term, client: redis.Redis, keys: Keys, now: Callable[[], datetime], reader: LedgerReader
) -> None:
    client.hset(keys.current, LATER.name, NIGHTLY.timing)
    before = now()
    assert before <= position_of(ledger, term, LATER).watermark
    assert records(reader)[0].first >= before


# A clock that was ahead


def test_a_watermark_within_a_minute_of_the_clock_stays(
    ledger: Ledger, term: Term, client: redis.Redis, keys: Keys, now: Callable[[], datetime], reader: LedgerReader
) -> None:
    ahead = now() + timedelta(seconds=55)
    put(client, keys, SYNC, ahead, now())
    assert position_of(ledger, term, SYNC).watermark == ahead
    assert records(reader) == []


def test_a_watermark_over_a_minute_ahead_is_set_to_now_recorded_and_told(
    ledger: Ledger, term: Term, client: redis.Redis, keys: Keys, now: Callable[[], datetime], reader: LedgerReader
) -> None:
    ahead, before = now() + 400 * DAY, now()
    put(client, keys, SYNC, ahead, ahead - DAY)
    loaded = ledger.load(term, [SYNC], {}, resume=False)
    found = loaded.positions[SYNC]
    assert before <= found.watermark <= now()
    assert found.anchor <= found.watermark
    (record,) = records(reader)
    assert (record.outcome, record.first, record.last) == ("corrected", found.watermark, ahead)
    (note,) = loaded.notes
    assert note.startswith("the watermark of sync was ahead of the server's clock")


def test_a_watermark_beyond_all_dates_is_corrected_too(
    ledger: Ledger, term: Term, client: redis.Redis, keys: Keys, now: Callable[[], datetime], reader: LedgerReader
) -> None:
    put(client, keys, SYNC, now(), now())
    (field,) = client.hkeys(keys.state)
    client.hset(keys.state, field, f"{10**20} {10**20} 1")
    assert ledger.load(term, [SYNC], {}, resume=False).positions[SYNC].watermark <= now()
    assert [record.outcome for record in records(reader)] == ["corrected"]


def test_a_replica_that_remembers_too_much_is_corrected_too(
    ledger: Ledger, term: Term, now: Callable[[], datetime]
) -> None:
    seen = Position(now() + DAY, now() - DAY)
    for resume in (True, False):
        assert ledger.load(term, [SYNC], {SYNC: seen}, resume=resume).positions[SYNC].watermark <= now()


def test_what_was_remembered_before_a_clock_was_set_back_does_not_win_over_the_ledger(
    ledger: Ledger, term: Term, client: redis.Redis, keys: Keys, now: Callable[[], datetime]
) -> None:
    decided = now() - timedelta(minutes=5)
    put(client, keys, SYNC, decided, decided)
    seen = Position(now() + timedelta(minutes=3), decided)
    for resume in (True, False):
        loaded = ledger.load(term, [SYNC], {SYNC: seen}, resume=resume)
        assert abs(loaded.positions[SYNC].watermark - decided) < timedelta(milliseconds=2)
        assert not loaded.notes


# Absent entries


def states(client: redis.Redis, keys: Keys) -> dict[str, str]:
    return dict(client.hgetall(keys.state))


def test_a_removed_entry_is_kept_for_seven_days_from_its_absence(
    ledger: Ledger, term: Term, client: redis.Redis, keys: Keys, lease: Lease, now: Callable[[], datetime]
) -> None:
    put(client, keys, NIGHTLY, now() - 30 * DAY, now() - 60 * DAY)
    ledger.load(term, [SYNC], {}, resume=False)
    field = f"{len(NIGHTLY.name)}:{NIGHTLY.name}:{NIGHTLY.timing}"
    value, absent = states(client, keys)[field].rsplit(" ", 1)
    assert abs(from_milliseconds(int(absent)) - now()) < timedelta(minutes=1)
    client.hset(keys.state, field, f"{value} {int(absent) - 7 * 86_400_000 + 60_000}")
    ledger.load(term, [SYNC], {}, resume=False)
    assert field in states(client, keys)
    client.hset(keys.state, field, f"{value} {int(absent) - 7 * 86_400_000 - 1000}")
    ledger.load(term, [SYNC], {}, resume=False)
    assert field not in states(client, keys)
    assert client.hkeys(keys.current) == [SYNC.name]


def test_a_field_that_is_not_ours_keeps_no_replica_from_its_entries(
    ledger: Ledger, term: Term, client: redis.Redis, keys: Keys
) -> None:
    client.hset(keys.state, "nonsense", "1 1 9 5")  # absent for longer than any is kept
    assert SYNC in ledger.load(term, [SYNC], {}, resume=False).positions


def test_an_entry_that_comes_back_is_absent_no_more(
    ledger: Ledger, term: Term, client: redis.Redis, keys: Keys, now: Callable[[], datetime]
) -> None:
    put(client, keys, NIGHTLY, now() - DAY, now() - DAY)
    ledger.load(term, [SYNC], {}, resume=False)
    assert position_of(ledger, term, NIGHTLY).watermark < now() - timedelta(hours=23)
    field = f"{len(NIGHTLY.name)}:{NIGHTLY.name}:{NIGHTLY.timing}"
    assert len(states(client, keys)[field].split()) == 3


def test_the_end_of_a_former_timing_leaves_the_present_one(
    ledger: Ledger, term: Term, client: redis.Redis, keys: Keys, now: Callable[[], datetime]
) -> None:
    old = to_milliseconds(now() - 8 * DAY)
    client.hset(keys.state, f"{len(NIGHTLY.name)}:{NIGHTLY.name}:{NIGHTLY.timing}", f"{old} {old} 1 {old}")
    client.hset(keys.current, LATER.name, LATER.timing)
    position_of(ledger, term, LATER)
    assert client.hgetall(keys.current) == {LATER.name: LATER.timing}
    assert len(states(client, keys)) == 1


def test_of_a_great_many_absent_entries_each_load_takes_a_page(
    ledger: Ledger, term: Term, client: redis.Redis, keys: Keys, now: Callable[[], datetime]
) -> None:
    old = to_milliseconds(now() - 8 * DAY)
    client.hset(keys.state, mapping={f"5:e{number:04}:t": f"{old} {old} 1 {old}" for number in range(3000)})
    left = []
    while client.hlen(keys.state) > 1:
        ledger.load(term, [SYNC], {}, resume=False)
        left.append(client.hlen(keys.state))
        assert len(left) < 20
    assert len(left) > 3


# Fencing and faults


def test_a_fenced_load_changes_nothing(
    ledger: Ledger, term: Term, dump: Callable[[], object], now: Callable[[], datetime]
) -> None:
    before = dump()
    with pytest.raises(FencedError):
        ledger.load(Term(term.number, "stale"), [SYNC, NIGHTLY], {}, resume=True)
    assert dump() == before


def test_a_load_without_a_lease_is_fenced(ledger: Ledger, term: Term, client: redis.Redis, keys: Keys) -> None:
    client.delete(keys.lease)
    with pytest.raises(FencedError):
        ledger.load(term, [SYNC], {}, resume=False)
    assert client.keys() == [keys.term]


@pytest.mark.parametrize("which", ["state", "current", "history"])
def test_a_key_of_a_wrong_type_is_an_error_before_anything_is_written(
    ledger: Ledger, term: Term, client: redis.Redis, keys: Keys, dump: Callable[[], object], which: str
) -> None:
    client.set(getattr(keys, which), "of no use")
    before = dump()
    with pytest.raises(StoreError, match="WRONGTYPE"):
        ledger.load(term, [SYNC], {}, resume=False)
    assert dump() == before


def test_an_intent_that_cannot_be_read_is_told_and_left(
    ledger: Ledger, term: Term, client: redis.Redis, keys: Keys
) -> None:
    far = '7 {"entry": "e", "instant": 1e30, "task": "t", "args": [], "kwargs": {}, "options": {}, "grace": null}'
    no_decimal = '7 {"entry": "e", "instant": 1, "args": [{"__type__": "decimal", "__value__": "x"}]}'
    no_name = far.replace('"e"', "null").replace("1e30", "1")
    broken = ["7 {}", "of a later version", "7 []", "7 " + "[" * 100_000, far, no_decimal, no_name]
    client.hset(keys.intents, mapping=dict(zip(map(str, range(len(broken))), broken, strict=True)))
    loaded = ledger.load(term, [SYNC], {}, resume=False)
    assert loaded.intents == []
    assert len(loaded.notes) == len(broken)
    assert client.hlen(keys.intents) == len(broken)
