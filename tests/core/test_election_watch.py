"""A standby's decision: when it waits, takes a free lease, or replaces a dead holder's."""

from celery_leased_beat.election import Move, Watch
from celery_leased_beat.store import Observation

A = "token-a 7 41 run-1 host:1"
A_AGAIN = "token-a 7 55 run-1 host:1"
B = "token-b 8 43 run-1 host:2"


#: What was seen, and when.
Sight = tuple[Observation, float]


def moves(watch: Watch, *sights: Sight) -> list[Move]:
    return [watch.look(seen, at) for seen, at in sights]


def held(at: float, *, listed: bool | None, value: str = A) -> Sight:
    return Observation(value=value, term=7, run_id="run-1", listed=listed, at=None), at


def free(at: float, term: int = 7, *, moved: bool = False) -> Sight:
    return free_lease(term, moved=moved), at


def free_lease(term: int, *, moved: bool = False) -> Observation:
    return Observation(None, term, "run-2" if moved else "run-1", listed=None, at=None, last_run_id="run-1")


def test_a_free_lease_is_taken_at_once() -> None:
    assert moves(Watch(), free(0.0, term=0)) == [Move.ACQUIRE]


def test_a_holder_that_is_listed_is_left_alone() -> None:
    assert moves(Watch(), held(0.0, listed=True), held(9.0, listed=True)) == [Move.WAIT, Move.WAIT]


def test_a_holder_that_was_seen_and_is_missed_twice_within_a_second_is_replaced() -> None:
    sights = [held(0.0, listed=True), held(0.4, listed=False), held(0.8, listed=False)]
    assert moves(Watch(), *sights) == [Move.WAIT, Move.WAIT, Move.REPLACE]


def test_two_looks_that_lie_more_than_a_second_apart_are_not_enough() -> None:
    sights = [held(0.0, listed=True), held(0.4, listed=False), held(1.5, listed=False), held(1.9, listed=False)]
    assert moves(Watch(), *sights) == [Move.WAIT, Move.WAIT, Move.WAIT, Move.REPLACE]


def test_a_holder_that_this_standby_never_saw_is_never_replaced() -> None:
    assert set(moves(Watch(), *(held(at / 4, listed=False) for at in range(40)))) == {Move.WAIT}


def test_a_holder_of_which_nothing_is_known_is_never_replaced() -> None:
    sights = [
        held(0.0, listed=True),
        *(held(at / 4, listed=None) for at in range(1, 40)),
        held(10.2, listed=False),
        held(10.4, listed=False),
    ]
    assert set(moves(Watch(), *sights)) == {Move.WAIT}


def test_a_holder_that_came_back_over_a_new_connection_begins_anew() -> None:
    sights = [
        held(0.0, listed=True),
        held(0.3, listed=False),
        held(0.6, listed=False, value=A_AGAIN),
        held(0.9, listed=False, value=A_AGAIN),
    ]
    assert set(moves(Watch(), *sights)) == {Move.WAIT}


def test_what_was_seen_of_one_holder_says_nothing_of_the_next() -> None:
    sights = [held(0.0, listed=True), held(0.3, listed=False), held(0.6, listed=False, value=B)]
    assert set(moves(Watch(), *sights)) == {Move.WAIT}


def test_a_single_miss_between_two_sights_is_forgotten() -> None:
    sights = [held(0.0, listed=True), held(0.3, listed=False), held(0.6, listed=True), held(0.9, listed=False)]
    assert set(moves(Watch(), *sights)) == {Move.WAIT}


def test_where_the_server_lost_its_data_the_last_holder_goes_first() -> None:
    last, other = Watch(), Watch()
    last.note_term(7, own=True)
    other.note_term(7, own=False)
    lost = [free(0.0, term=0), free(1.0, term=0), free(2.0, term=0)]
    assert moves(last, lost[0]) == [Move.ACQUIRE]
    assert moves(other, *lost) == [Move.WAIT, Move.WAIT, Move.ACQUIRE]


def test_where_the_server_was_restarted_or_replaced_the_last_holder_goes_first() -> None:
    last, other, newcomer = Watch(), Watch(), Watch()
    last.note_term(7, own=True)
    other.note_term(7, own=False)
    moved = [free(at, moved=True) for at in (0.0, 1.0, 2.0)]
    assert moves(last, moved[0]) == [Move.ACQUIRE]
    assert moves(other, *moved) == [Move.WAIT, Move.WAIT, Move.ACQUIRE]
    assert moves(newcomer, *moved) == [Move.WAIT, Move.WAIT, Move.ACQUIRE]


def test_a_head_start_begins_anew_with_each_loss() -> None:
    other = Watch()
    other.note_term(7, own=False)
    moves(other, free(0.0, term=0), held(1.0, listed=True))
    assert moves(other, free(5.0, term=0), free(6.9, term=0), free(7.0, term=0)) == [Move.WAIT, Move.WAIT, Move.ACQUIRE]


def test_the_last_holder_is_whoever_had_the_highest_term() -> None:
    watch = Watch()
    watch.note_term(3, own=True)
    assert watch.was_last_holder
    watch.note_term(3, own=False)
    assert watch.was_last_holder
    watch.note_term(4, own=False)
    assert not watch.was_last_holder
    watch.note_term(3, own=True)
    assert not watch.was_last_holder


def test_the_last_holder_knows_more_than_a_server_that_lost_its_data() -> None:
    watch = Watch()
    watch.note_term(7, own=True)
    assert watch.knows_more(free_lease(0))
    assert watch.knows_more(free_lease(7, moved=True))
    assert not watch.knows_more(free_lease(7))
    watch.note_term(8, own=False)
    assert not watch.knows_more(free_lease(0))
