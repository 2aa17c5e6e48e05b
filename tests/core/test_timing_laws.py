"""Laws of ``Cron``, as properties: over zones that are hard and over all that there are, around their changes."""

import re
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest
from cronsim import CronSim, CronSimError
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from celery_leased_beat.errors import SpecError
from celery_leased_beat.timing import Cron
from tests.core import brute, specs
from tests.core.spans import HARD, INSTANTS, YEARS, ZONES, around_a_change
from tests.core.walk import days, walk


@settings(max_examples=100, deadline=None)
@given(specs.SPECS, around_a_change())
def test_instants_and_their_count_are_as_a_search_of_every_minute_finds(
    spec: str, span: tuple[str, datetime, datetime]
) -> None:
    zone, after, until = span
    cron, expected = Cron(spec, ZoneInfo(zone)), brute.instants(spec, ZoneInfo(zone), after, until)
    assert walk(cron, after, until) == expected
    assert cron.count(after, until) == len(expected)


@settings(max_examples=60, deadline=None)
@given(specs.TIMES_IN_NUMBERS, specs.DATES, st.sampled_from(HARD[:9]), YEARS)
def test_both_days_are_those_of_each_day_field_at_once(times: str, dates: str, zone: str, year: int) -> None:
    day, month, weekday = dates.split()
    after, until = datetime(year, 3, 1, tzinfo=UTC), datetime(year, 4, 15, tzinfo=UTC)
    try:
        both = Cron(f"{times} {dates}", ZoneInfo(zone), both_days=True)
        alone = [Cron(f"{times} {day} {month} *", ZoneInfo(zone)), Cron(f"{times} * {month} {weekday}", ZoneInfo(zone))]
    except SpecError:
        assume(False)
    by_day, by_weekday = (walk(cron, after, until) for cron in alone)
    expected = sorted(set(by_day) & set(by_weekday))
    assert walk(both, after, until) == expected
    assert both.count(after, until) == len(expected)


@pytest.mark.parametrize("year", [1993, 2011])
@pytest.mark.parametrize("spec", ["30 6 * * *", "0 0,12 30,31 * *", "*/45 * * * *", "0 */6 20-31 8,12 *"])
@pytest.mark.parametrize("zone", ["Pacific/Apia", "Pacific/Kwajalein"])
def test_a_day_that_is_left_out_is_as_the_search_finds_it(zone: str, spec: str, year: int) -> None:
    for change in brute.changes(ZoneInfo(zone), year):
        after, until = change - days(2), change + days(2)
        expected = brute.instants(spec, ZoneInfo(zone), after, until)
        assert walk(Cron(spec, ZoneInfo(zone)), after, until) == expected
        assert Cron(spec, ZoneInfo(zone)).count(after, until) == len(expected)


@settings(max_examples=400, deadline=None)
@given(specs.SPECS, ZONES, INSTANTS)
def test_the_next_instant_is_always_later(spec: str, zone: str, instant: datetime) -> None:
    following = Cron(spec, ZoneInfo(zone)).next_after(instant)
    assert following is not None
    assert following > instant
    assert following.tzinfo is UTC


@settings(max_examples=300, deadline=None)
@given(specs.SPECS, ZONES, INSTANTS)
def test_nothing_lies_between_an_instant_and_the_next(spec: str, zone: str, instant: datetime) -> None:
    cron = Cron(spec, ZoneInfo(zone))
    following = cron.next_after(instant)
    assert following is not None
    assert cron.count(instant, following) == 1
    assert cron.count(instant, following - timedelta(milliseconds=1)) == 0


@settings(max_examples=300, deadline=None)
@given(specs.SPECS, ZONES, INSTANTS, st.integers(0, 10**9), st.integers(0, 10**9))
def test_the_counts_of_two_spans_are_that_of_both(spec: str, zone: str, after: datetime, one: int, two: int) -> None:
    cron = Cron(spec, ZoneInfo(zone))
    middle = after + timedelta(seconds=one)
    until = middle + timedelta(seconds=two)
    assert cron.count(after, middle) + cron.count(middle, until) == cron.count(after, until)


@pytest.mark.parametrize("zone", HARD)
@pytest.mark.parametrize("spec", ["15,45 0,1,2 * * *", "*/45 0-2 * * *"])
def test_instants_rise_for_years_on_end(zone: str, spec: str) -> None:
    cron = Cron(spec, ZoneInfo(zone))
    after, until = datetime(2022, 12, 1, tzinfo=UTC), datetime(2025, 1, 1, tzinfo=UTC)
    instants = walk(cron, after, until)
    assert all(earlier < later for earlier, later in pairwise(instants))
    assert len(instants) == cron.count(after, until)


def test_a_whole_year_is_as_the_search_finds_it() -> None:
    zone, spec = ZoneInfo("Africa/Casablanca"), "0,30 2 * * *"
    after, until = datetime(2023, 12, 31, tzinfo=UTC), datetime(2024, 12, 31, tzinfo=UTC)
    assert walk(Cron(spec, zone), after, until) == brute.instants(spec, zone, after, until)


def read_alike(spec: str) -> bool:
    """Whether cronsim reads a spec as we do: it has no ranges that wrap, AND for ``*/2`` in one day field, ``a-a/n`` as
    ``a/n``, an eighth day of the week for ``a/n``, and takes a range of hours for times in numbers."""
    minute, hour, day, _, weekday = spec.split()
    in_numbers = all(text.replace(",", "").isdigit() for text in (minute, hour))
    return (
        (in_numbers or minute.startswith("*") or hour.startswith("*"))
        and all(text == "*" or not text.startswith("*") for text in (day, weekday))
        and not re.search(r"\b(\w+)-\1/", spec)
        and not re.search(r"\b(?<!-)\w+/", weekday)
    )


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.filter_too_much])
@given(specs.SPECS.filter(read_alike), around_a_change())
def test_cronsim_agrees_where_its_rules_are_ours(spec: str, span: tuple[str, datetime, datetime]) -> None:
    zone, after, until = span
    try:
        search = CronSim(spec, after.astimezone(ZoneInfo(zone)))
    except CronSimError:  # a range that wraps
        assume(False)
    theirs = []
    while (instant := next(search).astimezone(UTC)) <= until:
        if (
            instant > after and instant not in theirs
        ):  # started in a repeated hour, it goes back; a gap's end it repeats
            theirs.append(instant)
    assert walk(Cron(spec, ZoneInfo(zone)), after, until) == theirs
