"""Instants of ``Aligned``: Celery's relative schedules, cut to their unit on the wall."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from celery_leased_beat.errors import SpecError
from celery_leased_beat.timing import Aligned, Cron
from tests.core.spans import HARD, INSTANTS
from tests.core.walk import at, first, walk

HOURS, DAYS = timedelta(hours=1), timedelta(days=1)

# fmt: off
TABLE = {
    "two hours are on the hour": (2 * HOURS, "UTC", "2026-06-01T10:17:31Z",
        ["2026-06-01T12:00Z", "2026-06-01T14:00Z"]),
    "minutes are on the minute": (timedelta(minutes=45), "UTC", "2026-06-01T10:17:31Z",
        ["2026-06-01T11:02Z", "2026-06-01T11:47Z"]),
    "what is beyond whole units is cut off": (timedelta(minutes=90), "UTC", "2026-06-01T10:40Z",
        ["2026-06-01T12:00Z", "2026-06-01T13:00Z"]),
    "days are at midnight on the wall": (2 * DAYS, "Europe/Budapest", "2026-10-23T21:59:59Z",
        ["2026-10-24T22:00Z", "2026-10-26T23:00Z", "2026-10-28T23:00Z"]),
    "midnight in a gap is its end": (2 * DAYS, "Asia/Beirut", "2024-03-29T00:00Z",
        ["2024-03-30T22:00Z", "2024-04-01T21:00Z"]),
    "a midnight that comes twice is the first": (3 * DAYS, "America/Havana", "2024-10-31T12:00Z",
        ["2024-11-03T04:00Z", "2024-11-06T05:00Z"]),
    "half an hour of daylight saving ends, and it is on the hour again": (HOURS, "Australia/Lord_Howe",
        "2026-04-04T13:10Z", ["2026-04-04T14:00Z", "2026-04-04T15:00Z", "2026-04-04T15:30Z", "2026-04-04T16:30Z"]),
    "half an hour of daylight saving begins": (HOURS, "Australia/Lord_Howe", "2026-10-03T13:40Z",
        ["2026-10-03T14:30Z", "2026-10-03T15:30Z", "2026-10-03T16:00Z", "2026-10-03T17:00Z"]),
}
# fmt: on


@pytest.mark.parametrize(("interval", "zone", "anchor", "instants"), TABLE.values(), ids=TABLE.keys())
def test_instants(interval: timedelta, zone: str, anchor: str, instants: list[str]) -> None:
    aligned = Aligned(interval, ZoneInfo(zone), at(anchor))
    assert first(aligned, anchor, len(instants)) == [at(instant) for instant in instants]
    assert aligned.count(at(anchor), at(instants[-1])) == len(instants)


INTERVALS = st.one_of(
    st.integers(1, 6 * 3600).map(lambda seconds: timedelta(seconds=seconds)),
    st.integers(2, 40).map(lambda days: timedelta(days=days)),
)
ZONES = st.sampled_from([zone for zone in HARD if zone not in ("Pacific/Apia", "Pacific/Kwajalein")])
YEARS = st.datetimes(datetime(1975, 1, 1), datetime(2040, 1, 1), timezones=st.just(UTC))
SPANS = st.integers(0, 10**7).map(lambda seconds: timedelta(seconds=seconds))


@settings(max_examples=300, deadline=None)
@given(INTERVALS, ZONES, YEARS, SPANS, SPANS)
def test_counts_and_instants_agree(
    interval: timedelta, zone: str, anchor: datetime, one: timedelta, two: timedelta
) -> None:
    aligned = Aligned(interval, ZoneInfo(zone), anchor)
    middle, until = anchor + one, anchor + one + two
    assert aligned.count(anchor, middle) + aligned.count(middle, until) == aligned.count(anchor, until)
    following = aligned.next_after(middle)
    assert following is not None
    assert following > middle
    assert aligned.count(middle, following) == 1
    assert aligned.count(middle, following - timedelta(milliseconds=1)) == 0


@settings(max_examples=200, deadline=None)
@given(st.sampled_from(HARD), INSTANTS)
def test_one_day_is_every_midnight(zone: str, instant: datetime) -> None:
    aligned = Aligned(DAYS, ZoneInfo(zone), instant)
    midnights = Cron("0 0 * * *", ZoneInfo(zone))
    assert walk(aligned, instant, instant + 5 * DAYS) == walk(midnights, instant, instant + 5 * DAYS)


def test_its_key_has_the_zone_and_not_the_anchor() -> None:
    assert Aligned(2 * HOURS, UTC, at("2026-06-01T10:17Z")).key == "aligned 7200000 UTC"
    assert Aligned(2 * HOURS).resolved(ZoneInfo("Europe/Budapest")).key == "aligned 7200000 Europe/Budapest"


def test_it_says_what_it_is() -> None:
    assert Aligned(timedelta(minutes=90), UTC).describe() == "every 1h on the hour"


def test_what_cannot_be_aligned_is_refused() -> None:
    with pytest.raises(SpecError, match="a second at least"):
        Aligned(timedelta(milliseconds=500))
    with pytest.raises(ValueError, match="needs a zone and an anchor"):
        Aligned(HOURS).next_after(at("2026-06-01T10:17Z"))
