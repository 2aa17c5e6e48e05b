"""The grid of ``Every``."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from celery_leased_beat.errors import SpecError
from celery_leased_beat.fires import to_milliseconds
from celery_leased_beat.timing import Every, every
from tests.core.walk import at, first, walk

ANCHOR = at("2026-07-01T12:00:00.250Z")


def test_the_first_instant_is_one_interval_after_the_anchor() -> None:
    grid = Every(timedelta(seconds=10), ANCHOR)
    expected = ["2026-07-01T12:00:10.250Z", "2026-07-01T12:00:20.250Z"]
    assert first(grid, "2026-06-01T00:00Z", 2) == [at(text) for text in expected]
    assert grid.next_after(ANCHOR) == at(expected[0])


def test_slot_k_is_the_anchor_plus_k_intervals_whatever_the_delay() -> None:
    grid = Every(timedelta(seconds=1), ANCHOR)
    instant = ANCHOR
    for slot in range(1, 10_001):
        following = grid.next_after(instant + timedelta(milliseconds=5))
        assert following == ANCHOR + timedelta(seconds=slot)
        instant = following


def test_a_restart_keeps_the_grid() -> None:
    found = []
    for restart in range(24):
        started = ANCHOR + restart * timedelta(minutes=5)
        found += walk(every("10m").anchored(ANCHOR), started, started + timedelta(minutes=5))
    assert found == [ANCHOR + slot * timedelta(minutes=10) for slot in range(1, 13)]


def test_twelve_instants_a_minute_for_every_five_seconds() -> None:
    grid = every("5s").anchored(ANCHOR)
    assert len(set(walk(grid, ANCHOR, ANCHOR + timedelta(minutes=1)))) == 12


@given(
    st.integers(1, 10**9),
    st.datetimes(datetime(1990, 1, 1), datetime(2100, 1, 1), timezones=st.just(UTC)),
    st.integers(-(10**12), 10**12),
    st.integers(0, 10**7),
    st.integers(0, 10**7),
)
def test_laws_of_the_grid(interval: int, anchor: datetime, offset: int, one: int, two: int) -> None:
    grid = Every(timedelta(milliseconds=interval), anchor)
    after = anchor + timedelta(microseconds=offset)
    middle = after + timedelta(milliseconds=one)
    until = middle + timedelta(milliseconds=two)
    following = grid.next_after(after)
    assert following is not None
    assert following > after
    assert to_milliseconds(following) % interval == to_milliseconds(anchor) % interval
    assert following.microsecond % 1000 == 0
    assert grid.count(after, following) == 1
    assert grid.count(after, middle) + grid.count(middle, until) == grid.count(after, until)


def test_the_key_leaves_the_anchor_out() -> None:
    assert every("15m").key == "every 900000"
    assert every("15m").anchored(ANCHOR).key == "every 900000"


def test_a_zone_changes_nothing() -> None:
    grid = every("15m")
    assert grid.resolved(UTC) is grid


def test_the_anchor_is_cut_to_the_millisecond() -> None:
    assert every("1s").anchored(ANCHOR + timedelta(microseconds=7)).anchor == ANCHOR


@pytest.mark.parametrize("interval", [0, -1, 0.0004, 1.0000005])
def test_an_interval_is_of_whole_milliseconds(interval: float) -> None:
    with pytest.raises(SpecError, match="whole milliseconds"):
        Every(timedelta(seconds=interval))


def test_an_interval_is_a_timedelta() -> None:
    with pytest.raises(SpecError, match="timedelta, not 5"):
        Every(5)  # type: ignore[arg-type]


def test_without_an_anchor_it_has_no_instants() -> None:
    with pytest.raises(ValueError, match="no anchor"):
        every("1s").next_after(ANCHOR)


def test_a_naive_datetime_is_refused() -> None:
    naive = datetime(2026, 7, 1)
    with pytest.raises(ValueError, match="naive"):
        every("1s").anchored(naive)
    with pytest.raises(ValueError, match="naive"):
        every("1s").anchored(ANCHOR).next_after(naive)


def test_the_calendar_ends() -> None:
    assert Every(timedelta(days=999_999_999), ANCHOR).next_after(ANCHOR) is None
