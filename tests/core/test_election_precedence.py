"""Who of several versions goes first, and that a schedule is never left to nobody for that."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from celery_leased_beat.election.precedence import LEFT_TO_NEWER, Precedence
from celery_leased_beat.store import Member
from celery_leased_beat.versions import is_newer, read_version


def member(name: str, version: str = "", *, entries: int = 1, term: int = 0, ready: bool = True) -> Member:
    return Member(name, f"{name}:1", entries, "digest", version, term, ready)


def takes(precedence: Precedence, others: list[Member], at: float) -> bool:
    return precedence.decide(precedence.newer(others), at)


@pytest.mark.parametrize(
    ("newer", "older"),
    [
        ("1.10", "1.9"), ("2.0", "2.0rc1"), ("2.0rc1", "2.0.dev4"), ("412", "411"), ("v2", "1"),
        ("2026.7.10", "2026.07.9"),
        ("1.0.1", "1"), ("1.2.3-4", "1.2.3-3"), ("1", ""), ("1", "a3f09c1"),
    ],
)  # fmt: skip
def test_of_these_versions_the_first_is_newer(newer: str, older: str) -> None:
    assert is_newer(newer, older)
    assert not is_newer(older, newer)


@pytest.mark.parametrize("pair", [("1.0", "1"), ("1.0+abc", "1.0+abd"), ("", ""), ("abc", "abd"), ("1.0RC1", "1.0rc1")])
def test_of_these_versions_neither_is_newer(pair: tuple[str, str]) -> None:
    assert not is_newer(*pair)
    assert not is_newer(*reversed(pair))


@pytest.mark.parametrize("text", ["", "a3f09c1", "main", "1.0 rc1", "1..2", "latest", "9" * 5000])
def test_these_have_no_place_among_versions(text: str) -> None:
    assert read_version(text) is None


@pytest.mark.parametrize(
    "other",
    [
        member("b", "1"), member("b", "0.9"), member("b"), member("b", "2", entries=0), member("b", "2", ready=False),
    ],
    ids=["of the same version", "older", "of no version", "newer and empty", "newer and at rest"],
)  # fmt: skip
def test_a_free_lease_is_not_left_to_one_that_is(other: Member) -> None:
    assert Precedence("1", serves=True).newer([other]) == []
    assert takes(Precedence("1", serves=True), [other], 0.0)


def test_a_free_lease_is_left_to_a_newer_version_for_some_seconds_and_then_taken() -> None:
    precedence, newer = Precedence("1", serves=True), [member("b", "2")]
    assert [takes(precedence, newer, at) for at in (10.0, 11.0, 10.0 + LEFT_TO_NEWER)] == [False, False, True]


def test_a_lease_that_was_held_in_between_is_left_anew() -> None:
    precedence, newer = Precedence("1", serves=True), [member("b", "2")]
    assert not takes(precedence, newer, 0.0)
    precedence.note_held(newer)
    assert not takes(precedence, newer, LEFT_TO_NEWER)


def test_one_that_left_the_lease_alone_goes_first_no_more_until_it_has_held_it() -> None:
    precedence, newer = Precedence("1", serves=True), [member("b", "2")]
    assert [takes(precedence, newer, at) for at in (0.0, LEFT_TO_NEWER)] == [False, True]
    assert precedence.newer(newer) == []
    assert precedence.newer([*newer, member("c", "2")]) == [member("c", "2")]
    precedence.note_held([member("b", "2", term=7)])
    assert precedence.newer(newer) == newer


def test_a_replica_without_entries_never_takes_the_lease() -> None:
    assert not takes(Precedence("9", serves=False), [], 1e9)


MEMBERS = st.lists(
    st.builds(
        member,
        st.uuids().map(str),
        st.sampled_from(["", "1", "1.0", "1.1", "2", "nonsense"]),
        entries=st.integers(0, 2),
        ready=st.booleans(),
    ),
    min_size=1,
    max_size=6,
    unique_by=lambda one: one.id,
)


@given(MEMBERS)
def test_somebody_may_always_take_a_free_lease_at_once_unless_all_are_empty(members: list[Member]) -> None:
    def one_takes(one: Member) -> bool:
        others = [other for other in members if other is not one]
        return takes(Precedence(one.version, serves=one.entries > 0), others, 0.0)

    assert any(map(one_takes, members)) == any(one.entries for one in members)


@given(MEMBERS)
def test_nobody_goes_before_one_that_goes_before_him(members: list[Member]) -> None:
    def before(one: Member) -> list[Member]:
        return Precedence(one.version, serves=True).newer(other for other in members if other is not one)

    assert not [(one, other) for one in members for other in before(one) if one in before(other)]


@given(MEMBERS)
def test_each_replica_with_entries_may_take_a_lease_that_stays_free(members: list[Member]) -> None:
    for one in members:
        precedence = Precedence(one.version, serves=one.entries > 0)
        others = [other for other in members if other is not one]
        takes(precedence, others, 0.0)
        assert takes(precedence, others, LEFT_TO_NEWER) == (one.entries > 0)
