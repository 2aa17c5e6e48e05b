"""The server's clock, as a replica knows it."""

import time
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from celery_leased_beat.store import ServerClock, boottime

START = datetime(2026, 3, 1, tzinfo=UTC)


class Hands:
    """A clock that stands still until it is set."""

    def __init__(self) -> None:
        self.at = 100.0

    def __call__(self) -> float:
        return self.at


@pytest.fixture
def hands() -> Hands:
    return Hands()


@pytest.fixture
def clock(hands: Hands) -> ServerClock:
    return ServerClock(hands)


def answer(clock: ServerClock, hands: Hands, *, server: datetime, round_trip: float) -> None:
    sent = hands.at
    hands.at += round_trip
    clock.observe(sent, hands.at, server)


def test_time_goes_on_between_answers(clock: ServerClock, hands: Hands) -> None:
    answer(clock, hands, server=START, round_trip=0.0)
    hands.at += 7.25
    assert clock.now() == START + timedelta(seconds=7.25)


def test_an_answer_was_given_halfway_of_its_round_trip(clock: ServerClock, hands: Hands) -> None:
    answer(clock, hands, server=START, round_trip=1.0)
    assert clock.now() == START + timedelta(seconds=0.5)


def test_the_shortest_round_trip_of_the_last_minute_counts(clock: ServerClock, hands: Hands) -> None:
    answer(clock, hands, server=START, round_trip=0.0)
    hands.at += 10
    answer(clock, hands, server=START + timedelta(seconds=10), round_trip=1.0)
    assert clock.now() == START + timedelta(seconds=11)


def test_after_a_minute_a_sample_counts_no_more(clock: ServerClock, hands: Hands) -> None:
    answer(clock, hands, server=START, round_trip=0.0)
    hands.at += 61
    answer(clock, hands, server=START + timedelta(seconds=61), round_trip=1.0)
    assert clock.now() == START + timedelta(seconds=61.5)


@pytest.mark.parametrize("step", [-3600, -2, 2, 3600])
def test_a_clock_that_was_set_is_followed_at_once(clock: ServerClock, hands: Hands, step: int) -> None:
    answer(clock, hands, server=START, round_trip=0.001)
    hands.at += 5
    answer(clock, hands, server=START + timedelta(seconds=5 + step), round_trip=0.5)
    assert abs(clock.now() - START - timedelta(seconds=5.25 + step)) < timedelta(seconds=0.01)


def test_before_the_first_answer_the_hosts_clock_serves(clock: ServerClock) -> None:
    assert abs(clock.now() - datetime.now(UTC)) < timedelta(seconds=2)


def test_the_difference_to_the_host_is_told(clock: ServerClock, hands: Hands) -> None:
    answer(clock, hands, server=START, round_trip=0.0)
    assert clock.ahead_of(START - timedelta(seconds=3)) == timedelta(seconds=3)


@given(st.lists(st.tuples(st.floats(0, 30), st.floats(0, 2), st.floats(0, 1)), min_size=1, max_size=30))
def test_it_errs_by_half_the_shortest_round_trip_at_most(answers: list[tuple[float, float, float]]) -> None:
    hands = Hands()
    clock, recent = ServerClock(hands), []
    for pause, round_trip, share in answers:
        hands.at += pause
        taken = hands.at + round_trip * share
        answer(clock, hands, server=START + timedelta(seconds=taken), round_trip=round_trip)
        recent.append((hands.at, round_trip))
        shortest = min(width for at, width in recent if hands.at - at <= 60)
        error = abs(clock.now() - START - timedelta(seconds=hands.at))
        assert error <= timedelta(seconds=shortest / 2, milliseconds=2)


def test_boottime_goes_on() -> None:
    before = boottime()
    assert boottime() >= before
    if hasattr(time, "CLOCK_BOOTTIME"):
        assert abs(time.clock_gettime(time.CLOCK_BOOTTIME) - before) < 5
