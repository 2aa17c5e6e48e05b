"""The ledger as it is read without a lease."""

from collections.abc import Callable, Iterator
from datetime import datetime, timedelta

import pytest
import redis

from celery_leased_beat.engine import Claim, EntryKey, Term
from celery_leased_beat.errors import StoreError
from celery_leased_beat.fires import from_milliseconds
from celery_leased_beat.plan import Decision, Outcome
from celery_leased_beat.store import Keys, Ledger, LedgerReader, connect
from examples.valkey import Server
from tests.store.conftest import Dump, server_milliseconds

SECOND = timedelta(seconds=1)
DIGEST = EntryKey("digest: été [1]", "every 1000")
REPORT = EntryKey("report", "cron 0 3 * * * UTC")


@pytest.fixture
def reader(server_url: str, keys: Keys) -> Iterator[LedgerReader]:
    with connect(server_url, timeout=5 * SECOND) as client:
        yield LedgerReader(client, keys)


@pytest.fixture
def skip(ledger: Ledger, term: Term, client: redis.Redis) -> Callable[[int], datetime]:
    """Writes decisions of the entry DIGEST, each for the time at which it is made."""
    ledger.load(term, [DIGEST, REPORT], {}, resume=False)

    def skip(number: int) -> datetime:
        for _ in range(number):
            now = before = server_milliseconds(client)
            while now == before:
                now = server_milliseconds(client)
            instant = from_milliseconds(now)
            ledger.claim(term, [Claim(DIGEST, Decision(Outcome.SKIPPED, instant, instant, 1, "no holder"))])
        return instant

    return skip


def test_it_shows_where_entries_stand_and_what_was_decided(
    reader: LedgerReader, skip: Callable[[int], datetime], ledger: Ledger, term: Term
) -> None:
    last = skip(3)
    now = reader.now()
    snapshot = reader.snapshot([DIGEST, REPORT], now - 60 * SECOND)
    assert snapshot.positions == ledger.load(term, [DIGEST, REPORT], {}, resume=False).positions
    assert snapshot.positions[DIGEST].watermark == last
    assert snapshot.serving == {DIGEST.name: DIGEST.timing, REPORT.name: REPORT.timing}
    assert [record.reason for record in snapshot.records] == ["no holder"] * 3
    assert snapshot.reaches_back == snapshot.records[0].at
    assert now <= snapshot.now < now + 5 * SECOND


def test_an_entry_that_is_not_enrolled_under_its_timing_has_no_position(
    reader: LedgerReader, skip: Callable[[int], datetime]
) -> None:
    retimed = DIGEST._replace(timing="every 2000")
    snapshot = reader.snapshot([retimed, EntryKey("new", "every 1")], reader.now())
    assert snapshot.positions == {}
    assert snapshot.serving == {DIGEST.name: DIGEST.timing}


def test_records_are_read_from_a_time_on_and_of_one_entry(
    reader: LedgerReader, skip: Callable[[int], datetime]
) -> None:
    middle = skip(2)
    skip(2)
    assert len(reader.snapshot([], middle).records) >= 2
    assert len(reader.snapshot([], middle).records) < 4
    assert reader.snapshot([], middle - 60 * SECOND, REPORT.name).records == []


def test_records_of_a_clock_that_was_set_back_since_are_read_too(
    reader: LedgerReader, skip: Callable[[int], datetime], client: redis.Redis, keys: Keys
) -> None:
    skip(1)
    _, fields = client.xrange(keys.history)[0]
    client.xadd(keys.history, fields, id=server_milliseconds(client) + 3_600_000)
    assert len(reader.snapshot([], reader.now() - 60 * SECOND).records) == 2


def test_the_record_reaches_back_to_its_oldest_one_whatever_is_read_of_it(
    reader: LedgerReader, skip: Callable[[int], datetime], client: redis.Redis, keys: Keys
) -> None:
    skip(4)
    client.xtrim(keys.history, maxlen=2, approximate=False)
    oldest, _ = reader.snapshot([], reader.now() - 60 * SECOND).records
    assert reader.snapshot([], reader.now()).reaches_back == oldest.at


def test_a_server_without_data_shows_nothing(reader: LedgerReader) -> None:
    snapshot = reader.snapshot([DIGEST], reader.now() - SECOND)
    assert (snapshot.positions, snapshot.serving, snapshot.records) == ({}, {}, [])
    assert snapshot.reaches_back is None


def test_more_entries_than_one_command_carries_are_all_shown(reader: LedgerReader, ledger: Ledger, term: Term) -> None:
    entries = [EntryKey(f"entry {number}", "every 1000") for number in range(1001)]
    ledger.load(term, entries, {}, resume=False)
    assert list(reader.snapshot(entries, reader.now()).positions) == entries


def test_reading_changes_nothing(
    reader: LedgerReader, skip: Callable[[int], datetime], dump: Callable[[], Dump]
) -> None:
    skip(1)
    before = dump()
    reader.snapshot([DIGEST, REPORT], reader.now() - SECOND)
    assert dump() == before


def test_a_key_of_a_wrong_type_is_an_error_that_says_what_was_refused(
    reader: LedgerReader, client: redis.Redis, keys: Keys
) -> None:
    client.set(keys.state, "no hash")
    with pytest.raises(StoreError, match=r"refused HMGET: .*WRONGTYPE"):
        reader.snapshot([DIGEST], reader.now())


def test_a_server_that_is_gone_is_a_store_error(keys: Keys) -> None:
    with Server() as server:
        client = connect(server.url, timeout=SECOND)
    with client, pytest.raises(StoreError, match="no answer"):
        LedgerReader(client, keys).now()
