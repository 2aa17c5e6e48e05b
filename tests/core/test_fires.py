"""The ids of fires and of listeners' messages: fixed for ever, and never the same for two."""

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from celery_leased_beat.fires import fire_id, from_milliseconds, listener_id, to_milliseconds

#: Text that is made to be mistaken: digits and colons, as in the lengths that separate the parts.
TRICKY = st.text(alphabet="01:a", max_size=5)
INSTANTS = st.datetimes(min_value=datetime(1970, 1, 1), timezones=st.just(UTC))


# Computed once with hashlib alone, from the formula that the module documents. A change here is a new fire for all.
@pytest.mark.parametrize(
    ("namespace", "entry", "instant", "expected"),
    [
        ("shop", "shop.digest_due", "2026-03-29T05:30:00+00:00", "3ac14242-a6cb-5fc5-b929-bc653b7883e4"),
        ("shop", "shop.digest_due", "2026-03-29T07:30:00+02:00", "3ac14242-a6cb-5fc5-b929-bc653b7883e4"),
        ("shop", "shop.digest_due", "1969-12-31T23:59:59.999+00:00", "b1640935-f0af-58e1-9622-8e3105f3808f"),
        ("db", "événement ✓ 1:", "1970-01-01T00:00:00+00:00", "3952684a-2052-5efd-a44e-0a9c2cc4f3e8"),
    ],
)
def test_a_fire_id_is_the_documented_one(namespace: str, entry: str, instant: str, expected: str) -> None:
    assert fire_id(namespace, entry, datetime.fromisoformat(instant)) == expected


def test_a_listener_id_is_the_documented_one() -> None:
    envelope = "3ac14242-a6cb-5fc5-b929-bc653b7883e4"
    assert listener_id(envelope, "send_digest") == "cf1e30b9-0fa5-56be-a000-78d1e76be35f"


@given(st.tuples(TRICKY, TRICKY, INSTANTS), st.tuples(TRICKY, TRICKY, INSTANTS))
def test_two_fires_never_share_an_id(one: tuple[str, str, datetime], other: tuple[str, str, datetime]) -> None:
    same = (*one[:2], to_milliseconds(one[2])) == (*other[:2], to_milliseconds(other[2]))
    assert (fire_id(*one) == fire_id(*other)) == same


@given(st.tuples(TRICKY, TRICKY), st.tuples(TRICKY, TRICKY))
def test_no_two_name_pairs_collide(one: tuple[str, str], other: tuple[str, str]) -> None:
    instant = datetime(2026, 1, 1, tzinfo=UTC)
    assert (listener_id(*one) == listener_id(*other)) == (one == other)
    assert (fire_id(*one, instant) == fire_id(*other, instant)) == (one == other)


def test_parts_that_give_one_string_without_their_lengths_give_two_ids() -> None:
    assert listener_id("a", "b1:c") != listener_id("a1:b", "c")
    assert listener_id("1", "1:1") != listener_id("11:", "1")


@given(st.integers(min_value=-(10**13), max_value=10**13))
def test_milliseconds_come_back(milliseconds: int) -> None:
    assert to_milliseconds(from_milliseconds(milliseconds)) == milliseconds


@given(INSTANTS, st.integers(min_value=-14, max_value=14))
def test_an_instant_has_one_id_in_whatever_zone_it_is_written(instant: datetime, hours: int) -> None:
    written = instant.replace(year=min(instant.year, 9000)) + timedelta(days=1)
    elsewhere = written.astimezone(timezone(timedelta(hours=hours)))
    assert fire_id("shop", "x", written) == fire_id("shop", "x", elsewhere)


def test_a_naive_instant_is_refused() -> None:
    with pytest.raises(TypeError):
        fire_id("shop", "x", datetime(2026, 1, 1))
