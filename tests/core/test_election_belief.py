"""What a replica may believe of its lease: until when, of which term, and no longer than it was told."""

from math import nextafter

import pytest

from celery_leased_beat.election.belief import Belief
from celery_leased_beat.engine import Term

TTL = 15.0
FIRST, SECOND = Term(7, "token-7"), Term(8, "token-8")
SENT = 100.0
#: When trust in a request of ``SENT`` ends: a fifth of the TTL is left for what was begun on it.
END = SENT + 0.8 * TTL


@pytest.fixture
def belief() -> Belief:
    return Belief(TTL)


def just_before(time: float) -> float:
    return nextafter(time, 0.0)


def test_nothing_is_believed_before_the_first_answer(belief: Belief) -> None:
    assert not belief.exists
    assert belief.term(0.0) is None


def test_trust_lasts_four_fifths_of_the_ttl_from_when_the_request_was_sent(belief: Belief) -> None:
    belief.renew(FIRST, SENT)
    assert belief.term(SENT) == FIRST
    assert belief.term(just_before(END)) == FIRST
    assert belief.term(END) is None
    assert belief.term(END + 3600) is None


def test_a_trust_past_its_end_is_still_there_to_be_ended(belief: Belief) -> None:
    belief.renew(FIRST, SENT)
    assert belief.term(END) is None
    assert belief.exists


def test_a_renewal_moves_the_end(belief: Belief) -> None:
    belief.renew(FIRST, SENT)
    belief.renew(FIRST, SENT + 5)
    assert belief.term(just_before(END + 5)) == FIRST
    assert belief.term(END + 5) is None


def test_a_renewal_tells_whether_there_was_no_trust(belief: Belief) -> None:
    assert belief.renew(FIRST, SENT)
    assert not belief.renew(FIRST, SENT + 5)
    assert not belief.renew(FIRST, END + 60), "a trust past its end was there too"
    belief.end()
    assert belief.renew(FIRST, END + 65)


def test_another_term_takes_the_place_of_the_first(belief: Belief) -> None:
    belief.renew(FIRST, SENT)
    assert not belief.renew(SECOND, SENT + 1)
    assert belief.term(END) == SECOND


def test_an_end_is_at_once_and_tells_whether_there_was_a_trust(belief: Belief) -> None:
    assert not belief.end()
    belief.renew(FIRST, SENT)
    assert belief.end()
    assert belief.term(SENT) is None
    assert not belief.exists
    assert not belief.end()


def test_the_end_of_another_term_ends_nothing(belief: Belief) -> None:
    belief.renew(SECOND, SENT)
    assert not belief.end(FIRST)
    assert belief.term(SENT) == SECOND
    assert belief.end(SECOND)
    assert belief.term(SENT) is None
