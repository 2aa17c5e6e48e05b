"""A decision is written once, by the holder alone, whatever is sent again."""

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta

import pytest
import redis

from celery_leased_beat.engine import Claim, EntryKey, Intent, Position, Term, Verdict
from celery_leased_beat.errors import FencedError, StoreError
from celery_leased_beat.fires import Fire, fire_id, from_milliseconds
from celery_leased_beat.plan import Decision, Outcome
from celery_leased_beat.store import Keys, Lease, Ledger, LedgerReader, ServerClock, connect
from tests.nodes.proxy import Proxy
from tests.store.conftest import REPLICA, records, server_milliseconds, take

SYNC = EntryKey("sync", "every 1000")
OTHER = EntryKey("other", "every 1000")
SECOND = timedelta(seconds=1)
CLAIMED, DECIDED, EARLY = Verdict.CLAIMED, Verdict.DECIDED, Verdict.EARLY


@pytest.fixture
def start(ledger: Ledger, term: Term, client: redis.Redis) -> datetime:
    """An instant an hour ago, at which both entries stand."""
    start = from_milliseconds(server_milliseconds(client)) - timedelta(hours=1)
    stand = Position(start, start)
    ledger.load(term, [SYNC, OTHER], {SYNC: stand, OTHER: stand}, resume=True)
    return start


def fired(key: EntryKey, instant: datetime, term: int = 0) -> Claim:
    fire = Fire(fire_id("shop", key.name, instant), key.name, instant)
    intent = Intent(fire, "job:sync", (1, "é"), {"deep": {"list": [None, 1.5]}}, {"queue": "mail"}, SECOND, term)
    return Claim(key, Decision(Outcome.FIRED, instant, instant, 1), intent)


def coalesced(key: EntryKey, first: datetime, last: datetime, count: int) -> Claim:
    return Claim(key, Decision(Outcome.COALESCED, first, last, count, "an older instant"))


def watermark(ledger: Ledger, term: Term, key: EntryKey = SYNC) -> datetime:
    return ledger.load(term, [key], {}, resume=False).positions[key].watermark


# Claims


def test_a_claim_moves_the_watermark_and_leaves_its_intent(ledger: Ledger, term: Term, start: datetime) -> None:
    claim = fired(SYNC, start + SECOND, term.number)
    assert ledger.claim(term, [claim]) == [CLAIMED]
    loaded = ledger.load(term, [SYNC], {}, resume=False)
    assert loaded.positions[SYNC] == Position(start + SECOND, start)
    assert loaded.intents == [claim.intent]


def test_a_claim_is_written_to_the_history_with_lateness_term_and_holder(
    ledger: Ledger, term: Term, start: datetime, reader: LedgerReader
) -> None:
    ledger.claim(term, [coalesced(SYNC, start + SECOND, start + 9 * SECOND, 9), fired(SYNC, start + 10 * SECOND)])
    older, newest = records(reader)
    assert (older.entry, older.outcome, older.first, older.last, older.count, older.reason, older.fire_id) == (
        "sync",
        "coalesced",
        start + SECOND,
        start + 9 * SECOND,
        9,
        "an older instant",
        "",
    )
    assert (newest.outcome, newest.count, newest.fire_id) == (
        "fired",
        1,
        fire_id("shop", "sync", start + 10 * SECOND),
    )
    assert newest.at - newest.last == newest.late
    assert newest.late > timedelta(minutes=59)
    assert (newest.term, newest.holder) == (term.number, REPLICA)


def test_what_was_decided_is_not_decided_again(
    ledger: Ledger, term: Term, start: datetime, reader: LedgerReader
) -> None:
    ledger.claim(term, [coalesced(SYNC, start + SECOND, start + 9 * SECOND, 9)])
    last = start + 9 * SECOND
    again = [coalesced(SYNC, start, start, 1), fired(SYNC, last), coalesced(SYNC, start, last, 9)]
    assert ledger.claim(term, again) == [DECIDED, DECIDED, DECIDED]
    assert len(records(reader)) == 1


def test_an_instant_ahead_of_the_server_is_early_and_so_is_all_behind_it(
    ledger: Ledger, term: Term, start: datetime, dump: Callable[[], object]
) -> None:
    ahead = start + timedelta(hours=2)
    before = dump()
    claims = [fired(SYNC, ahead), coalesced(SYNC, start + SECOND, start + SECOND, 1), fired(SYNC, ahead + SECOND)]
    assert ledger.claim(term, claims) == [EARLY, EARLY, EARLY]
    assert dump() == before


def test_an_early_claim_holds_back_its_own_entry_only(ledger: Ledger, term: Term, start: datetime) -> None:
    claims = [fired(SYNC, start + SECOND), fired(SYNC, start + timedelta(hours=2)), fired(OTHER, start + SECOND)]
    assert ledger.claim(term, claims) == [CLAIMED, EARLY, CLAIMED]
    assert watermark(ledger, term) == start + SECOND


def test_an_early_claim_holds_back_what_comes_in_a_later_slice(ledger: Ledger, term: Term, start: datetime) -> None:
    claims = [
        fired(SYNC, start + timedelta(hours=2)),
        *[fired(OTHER, start + n * SECOND) for n in range(1, 600)],
        fired(SYNC, start + SECOND),
        fired(OTHER, start + 600 * SECOND),
    ]
    verdicts = ledger.claim(term, claims)
    assert verdicts == [EARLY, *[CLAIMED] * 599, EARLY, CLAIMED]
    assert watermark(ledger, term) == start


def test_a_great_many_claims_go_in_slices(
    ledger: Ledger, term: Term, start: datetime, client: redis.Redis, reader: LedgerReader
) -> None:
    ledger.claim(term, [fired(OTHER, start + SECOND)])
    client.config_resetstat()
    claims = [fired(SYNC, start + number * SECOND) for number in range(1, 1202)]
    assert ledger.claim(term, claims) == [CLAIMED] * 1201
    assert client.info("commandstats")["cmdstat_evalsha"]["calls"] == 3
    assert [record.last for record in records(reader, "sync")] == [claim.decision.last for claim in claims]


def test_no_claims_ask_nothing(ledger: Ledger, term: Term) -> None:
    assert ledger.claim(Term(term.number, "stale"), []) == []


def test_an_entry_whose_state_was_removed_goes_on_from_its_claim(
    ledger: Ledger, term: Term, start: datetime, client: redis.Redis, keys: Keys
) -> None:
    client.delete(keys.state)
    assert ledger.claim(term, [fired(SYNC, start + SECOND), fired(SYNC, start + SECOND)]) == [CLAIMED, DECIDED]
    assert ledger.load(term, [SYNC], {}, resume=False).positions[SYNC] == Position(start + SECOND, start + SECOND)


# Claims that are sent again


def test_a_claim_that_is_sent_again_finds_its_own(
    ledger: Ledger, term: Term, start: datetime, dump: Callable[[], object]
) -> None:
    claims = [coalesced(SYNC, start + SECOND, start + 2 * SECOND, 2), fired(SYNC, start + 3 * SECOND)]
    ledger.claim(term, claims)
    before = dump()
    assert ledger.claim(term, claims) == [DECIDED, CLAIMED]
    assert dump() == before


def test_a_claim_whose_reply_was_lost_is_written_once(
    ledger: Ledger, term: Term, start: datetime, proxy: Proxy, keys: Keys, reader: LedgerReader
) -> None:
    claims = [fired(SYNC, start + SECOND)]
    with connect(proxy.url, timeout=SECOND) as client:
        cut_off = Ledger(client, keys, ServerClock(), replica=REPLICA)
        cut_off.commit(term, [])
        client.ping()
        proxy.lose_replies = True
        with pytest.raises(StoreError):
            cut_off.claim(term, claims)
        proxy.heal()
        assert cut_off.claim(term, claims) == [CLAIMED]
    assert len(records(reader)) == 1
    assert len(ledger.load(term, [SYNC], {}, resume=False).intents) == 1


def test_what_an_older_term_claimed_is_no_claim_of_this_one(
    ledger: Ledger, term: Term, start: datetime, lease: Lease
) -> None:
    claims = [fired(SYNC, start + SECOND)]
    ledger.claim(term, claims)
    lease.release(term.token)
    later = take(lease, "token-2")
    assert ledger.claim(later, claims) == [DECIDED]
    (intent,) = ledger.load(later, [SYNC], {}, resume=False).intents
    assert intent.term == term.number


# Ends of intents


def test_a_commit_ends_intents_and_nothing_else(
    ledger: Ledger, term: Term, start: datetime, reader: LedgerReader
) -> None:
    claims = [fired(SYNC, start + number * SECOND) for number in range(1, 4)]
    ledger.claim(term, claims)
    first, second, third = (claim.intent for claim in claims if claim.intent)
    ledger.commit(term, [first.fire.id, third.fire.id])
    ledger.commit(term, [first.fire.id, "unknown"])
    loaded = ledger.load(term, [SYNC], {}, resume=False)
    assert [intent.fire for intent in loaded.intents] == [second.fire]
    assert loaded.positions[SYNC].watermark == start + 3 * SECOND
    assert len(records(reader)) == 3


def test_an_abandoned_intent_ends_with_a_record_of_why(
    ledger: Ledger, term: Term, start: datetime, reader: LedgerReader
) -> None:
    claim = fired(SYNC, start + SECOND)
    assert claim.intent is not None
    ledger.claim(term, [claim])
    for _ in range(2):
        ledger.abandon(term, claim.intent, "failed", "the queue was refused")
    _, record = records(reader)
    assert (record.outcome, record.reason, record.first, record.fire_id) == (
        "failed",
        "the queue was refused",
        start + SECOND,
        claim.intent.fire.id,
    )
    assert ledger.load(term, [SYNC], {}, resume=False).intents == []


def test_intents_that_were_lost_are_kept_again_and_those_that_are_there_stay(
    ledger: Ledger, term: Term, start: datetime, client: redis.Redis, keys: Keys
) -> None:
    lost, there = (fired(SYNC, start + number * SECOND, term.number).intent for number in (1, 2))
    assert lost is not None
    assert there is not None
    ledger.claim(term, [fired(SYNC, start + 2 * SECOND, term.number)])
    written = client.hget(keys.intents, there.fire.id)
    ledger.keep(term, [lost, replace(there, task="job:other")])
    assert client.hget(keys.intents, there.fire.id) == written
    kept = ledger.load(term, [SYNC], {}, resume=False).intents
    assert {intent.fire.id for intent in kept} == {lost.fire.id, there.fire.id}


def test_an_intent_that_a_worker_ended_is_not_abandoned(
    ledger: Ledger, term: Term, start: datetime, client: redis.Redis, keys: Keys, reader: LedgerReader
) -> None:
    claim = fired(SYNC, start + SECOND)
    assert claim.intent is not None
    ledger.claim(term, [claim])
    client.delete(keys.intents)
    ledger.abandon(term, claim.intent, "failed", "too late")
    assert len(records(reader)) == 1


# Fencing and faults


@pytest.mark.parametrize("lost", ["another token", "no lease", "junk", "a longer token"])
def test_a_fenced_writer_changes_nothing(
    ledger: Ledger, term: Term, start: datetime, client: redis.Redis, keys: Keys, dump: Callable[[], object], lost: str
) -> None:
    claim = fired(SYNC, start + SECOND)
    assert claim.intent is not None
    ledger.claim(term, [claim])
    values = {"another token": f"other {term.number} 1 run host", "junk": "junk", "a longer token": "token-10 9 1 r h"}
    client.delete(keys.lease)
    if lost in values:
        client.set(keys.lease, values[lost], px=90_000)
    before = dump()
    for write in (
        lambda: ledger.claim(term, [fired(SYNC, start + 2 * SECOND)]),
        lambda: ledger.commit(term, [claim.intent.fire.id]),
        lambda: ledger.abandon(term, claim.intent, "failed", "x"),
        lambda: ledger.keep(term, [claim.intent]),
        lambda: ledger.load(term, [SYNC, OTHER], {}, resume=True),
    ):
        with pytest.raises(FencedError):
            write()
    assert dump() == before


@pytest.mark.parametrize("which", ["state", "intents", "history"])
def test_a_key_of_a_wrong_type_is_an_error_before_anything_is_written(
    ledger: Ledger, term: Term, start: datetime, client: redis.Redis, keys: Keys, dump: Callable[[], object], which: str
) -> None:
    client.delete(getattr(keys, which))
    client.set(getattr(keys, which), "of no use")
    before = dump()
    with pytest.raises(StoreError, match="WRONGTYPE"):
        ledger.claim(term, [fired(SYNC, start + SECOND)])
    assert dump() == before


def test_a_full_server_refuses_a_claim_whole_and_takes_a_commit(
    ledger: Ledger, term: Term, start: datetime, client: redis.Redis, dump: Callable[[], object], lease: Lease
) -> None:
    claim = fired(SYNC, start + SECOND)
    assert claim.intent is not None
    ledger.claim(term, [claim])
    client.config_set("maxmemory", 1)
    try:
        before = dump()
        with pytest.raises(StoreError, match=r"OOM|OutOfMemory"):
            ledger.claim(term, [fired(SYNC, start + 2 * SECOND)])
        assert dump() == before
        ledger.commit(term, [claim.intent.fire.id])
        assert lease.release(term.token)
    finally:
        client.config_set("maxmemory", 0)


def test_after_a_flush_the_old_term_is_fenced(ledger: Ledger, term: Term, start: datetime, client: redis.Redis) -> None:
    client.flushall()
    with pytest.raises(FencedError):
        ledger.claim(term, [fired(SYNC, start + SECOND)])
    assert client.keys() == []


def test_a_script_that_the_server_forgot_is_sent_by_its_source(
    ledger: Ledger, term: Term, start: datetime, client: redis.Redis
) -> None:
    client.script_flush()
    assert ledger.claim(term, [fired(SYNC, start + SECOND)]) == [CLAIMED]
    client.script_flush()
    assert ledger.load(term, [SYNC], {}, resume=False).positions


# The history


def test_the_history_is_read_by_time_and_entry(
    ledger: Ledger, term: Term, start: datetime, reader: LedgerReader
) -> None:
    ledger.claim(term, [fired(SYNC, start + SECOND), fired(OTHER, start + SECOND), fired(SYNC, start + 2 * SECOND)])
    at = records(reader)[0].at
    assert [record.last for record in records(reader, "sync")] == [start + SECOND, start + 2 * SECOND]
    assert len(reader.snapshot([], at).records) == 3
    assert reader.snapshot([], at + SECOND).records == []


def test_a_long_history_is_read_in_pages(ledger: Ledger, term: Term, start: datetime, reader: LedgerReader) -> None:
    ledger.claim(term, [fired(SYNC, start + number * SECOND) for number in range(1, 2001)])
    assert [record.last for record in records(reader)] == [start + number * SECOND for number in range(1, 2001)]


def test_every_key_ends_or_is_documented_as_kept(
    ledger: Ledger, term: Term, start: datetime, keys: Keys, lease: Lease, keys_without_expiry: Callable[[], set[str]]
) -> None:
    ledger.claim(term, [fired(SYNC, start + SECOND)])
    assert keys_without_expiry() == {keys.term, keys.state, keys.current, keys.intents}
    lease.release(term.token)
    assert keys_without_expiry() == {keys.term, keys.state, keys.current, keys.intents}


def test_the_clock_learns_from_every_answer(server_url: str, term: Term, keys: Keys, client: redis.Redis) -> None:
    clock = ServerClock(lambda: 0.0)
    with connect(server_url, timeout=SECOND) as pooled:
        Ledger(pooled, keys, clock, replica=REPLICA).commit(term, [])
    assert abs(clock.now() - from_milliseconds(server_milliseconds(client))) < 5 * SECOND
