"""The names of the keys."""

from hypothesis import given
from hypothesis import strategies as st

from celery_leased_beat.store import Keys

NAMESPACES = st.text(st.characters(exclude_characters="{}", exclude_categories=["Cs"]), min_size=1, max_size=30)


def all_keys(keys: Keys) -> list[str]:
    kept = [keys.lease, keys.term, keys.wake, keys.state, keys.current, keys.intents, keys.history]
    named = [*kept, keys.marker("task"), keys.fanout("envelope")]
    return [*named, *(f"{key}:time" for key in named)]


def slot(key: bytes) -> int:
    """The slot of ``key`` in a Cluster, by its specification: CRC16 (XMODEM) of the tag in braces, modulo 16384."""
    opening = key.find(b"{")
    closing = key.find(b"}", opening + 1)
    tag = key[opening + 1 : closing] if opening >= 0 and closing > opening + 1 else key
    crc = 0
    for byte in tag:
        crc ^= byte << 8
        for _ in range(8):
            crc = (crc << 1 ^ 0x1021 if crc & 0x8000 else crc << 1) & 0xFFFF
    return crc % 16384


@given(NAMESPACES)
def test_all_keys_of_a_namespace_lie_in_one_slot(namespace: str) -> None:
    assert len({slot(key.encode()) for key in all_keys(Keys(namespace))}) == 1


def test_the_slot_is_counted_as_the_specification_counts_it() -> None:
    assert slot(b"123456789") == slot(b"x{123456789}y") == 0x31C3


def test_the_lease_of_a_namespace_has_a_name_that_is_documented() -> None:
    assert Keys("shop").lease == "clb:{shop}:lease"


@given(NAMESPACES, NAMESPACES)
def test_two_namespaces_share_no_key(one: str, other: str) -> None:
    if one != other:
        assert not set(all_keys(Keys(one))) & set(all_keys(Keys(other)))
