"""Cron specs, drawn by hypothesis in all the ways in which they can be written."""

from hypothesis import strategies as st

from tests.core.brute import MONTHS, WEEKDAYS


def _span(first: int, last: int, wraps: bool = False) -> st.SearchStrategy[str]:
    pairs = st.tuples(st.integers(first, last), st.integers(first, last))
    return pairs.map(lambda pair: "{}-{}".format(*(pair if wraps else sorted(pair))))


def _stepped(base: st.SearchStrategy[str], size: int) -> st.SearchStrategy[str]:
    return st.tuples(base, st.integers(1, size)).map(lambda pair: f"{pair[0]}/{pair[1]}")


def _listed(term: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.lists(term, min_size=1, max_size=3).map(",".join)


def _numbers(first: int, last: int) -> st.SearchStrategy[str]:
    return _listed(st.integers(first, last).map(str))


def _field(first: int, last: int, names: tuple[str, ...] = (), size: int = 0) -> st.SearchStrategy[str]:
    size = size or last - first + 1
    number = st.integers(first, last).map(str)
    span = _span(first, last, wraps=bool(names))
    term = st.one_of(number, span, _stepped(st.one_of(st.just("*"), span, number), size))
    if names:
        name = st.sampled_from(names)
        term = st.one_of(term, name, st.tuples(name, name).map("-".join))
    return st.one_of(st.just("*"), _listed(term))


#: Times near midnight and the small hours, where zones change.
TIMES_IN_NUMBERS = st.tuples(_numbers(0, 59), st.one_of(_numbers(0, 4), _numbers(0, 23))).map(" ".join)
TIMES = st.tuples(_field(0, 59), _field(0, 23)).map(" ".join)
DATES = st.tuples(
    st.one_of(st.just("*"), _field(1, 28)), st.one_of(st.just("*"), _field(1, 12, MONTHS)), _field(0, 7, WEEKDAYS, 7)
).map(" ".join)

EVERY_DAY = st.just("* * *")
SPECS_IN_NUMBERS = st.tuples(TIMES_IN_NUMBERS, st.one_of(EVERY_DAY, DATES)).map(" ".join)
SPECS = st.one_of(SPECS_IN_NUMBERS, st.tuples(TIMES, st.one_of(EVERY_DAY, DATES)).map(" ".join))
