"""What becomes of the instants since the watermark."""

from datetime import UTC, datetime, timedelta
from itertools import groupby
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from celery_leased_beat.errors import OptionError
from celery_leased_beat.plan import Decision, Outcome, Policy, plan
from celery_leased_beat.timing import Cron, Every, Timing, every
from tests.core import specs
from tests.core.counting import Counting
from tests.core.walk import at, days, walk

MIDNIGHT = at("2026-07-01T00:00Z")
HOURLY = Cron("0 * * * *", UTC)


def decide(
    timing: Timing, policy: Policy, watermark: str, now: str, serving_since: str | None = None, burst: int = 100
) -> list[tuple[str, str, str, int, str]]:
    """The plan as text, times of 1 July 2026 as HH:MM:SS."""
    seen, clock, since = (at(f"2026-07-01T{text}Z") for text in (watermark, now, serving_since or watermark))
    return [
        (str(found.outcome), f"{found.first:%H:%M:%S}", f"{found.last:%H:%M:%S}", found.count, found.reason)
        for found in plan(timing, policy, seen, clock, since, burst)
    ]


def test_an_instant_that_is_due_fires() -> None:
    fired = [("fired", "14:00:00", "14:00:00", 1, "")]
    assert decide(HOURLY, Policy(), "13:00", "14:00") == fired
    assert decide(HOURLY, Policy(), "13:59:59", "14:00:00.5") == fired


def test_nothing_is_due_before_its_time_and_nothing_twice() -> None:
    assert decide(HOURLY, Policy(), "13:00", "13:59:59.999999") == []
    assert decide(HOURLY, Policy(), "14:00", "14:00") == []
    assert decide(HOURLY, Policy(), "14:00", "13:00") == []


def test_a_short_outage_is_caught_up_under_the_instants_own_time() -> None:
    fired = [("fired", "14:00:00", "14:00:00", 1, "")]
    for catch_up in ("latest", "all"):
        assert decide(HOURLY, Policy(catch_up), "13:59", "14:01", "14:00:30") == fired
    assert decide(HOURLY, Policy("skip"), "13:59", "14:01", "14:00:30") == [
        ("skipped", "14:00:00", "14:00:00", 1, "no holder")
    ]


def test_latest_fires_the_last_one_and_records_the_others_once() -> None:
    assert decide(HOURLY, Policy(), "08:00", "14:01") == [
        ("coalesced", "09:00:00", "13:00:00", 5, "older than the latest"),
        ("fired", "14:00:00", "14:00:00", 1, ""),
    ]


def test_all_fires_each() -> None:
    assert decide(HOURLY, Policy("all"), "10:30", "13:01") == [
        ("fired", f"{hour}:00:00", f"{hour}:00:00", 1, "") for hour in (11, 12, 13)
    ]


def test_all_fires_the_newest_up_to_its_limit() -> None:
    assert decide(HOURLY, Policy("all", limit=2), "08:30", "13:01") == [
        ("coalesced", "09:00:00", "11:00:00", 3, "over the limit"),
        ("fired", "12:00:00", "12:00:00", 1, ""),
        ("fired", "13:00:00", "13:00:00", 1, ""),
    ]


def test_all_is_spread_over_calls_by_the_burst() -> None:
    assert decide(HOURLY, Policy("all", limit=3), "08:30", "13:01", burst=2) == [
        ("coalesced", "09:00:00", "10:00:00", 2, "over the limit"),
        ("fired", "11:00:00", "11:00:00", 1, ""),
        ("fired", "12:00:00", "12:00:00", 1, ""),
    ]
    assert decide(HOURLY, Policy("all", limit=3), "12:00", "13:01", burst=2) == [
        ("fired", "13:00:00", "13:00:00", 1, "")
    ]


def test_skip_fires_nothing_of_a_time_without_a_holder() -> None:
    grid = every("15s").anchored(MIDNIGHT)
    assert decide(grid, Policy("skip"), "12:00:00", "12:01:07", "12:01:07") == [
        ("skipped", "12:00:15", "12:01:00", 4, "no holder")
    ]
    assert decide(grid, Policy("skip"), "12:01:00", "12:01:15", "12:01:07") == [
        ("fired", "12:01:15", "12:01:15", 1, "")
    ]


def test_skip_with_a_holder_is_latest() -> None:
    assert decide(HOURLY, Policy("skip"), "08:30", "13:01", "10:00") == [
        ("skipped", "09:00:00", "10:00:00", 2, "no holder"),
        ("coalesced", "11:00:00", "12:00:00", 2, "older than the latest"),
        ("fired", "13:00:00", "13:00:00", 1, ""),
    ]


def test_lateness_of_exactly_the_grace_still_fires() -> None:
    minute = Policy(grace=timedelta(minutes=1))
    assert decide(HOURLY, minute, "13:59", "14:01:00") == [("fired", "14:00:00", "14:00:00", 1, "")]
    late = [("skipped", "14:00:00", "14:00:00", 1, "past its grace")]
    assert decide(HOURLY, minute, "13:59", "14:01:00.000001") == late
    assert decide(HOURLY, Policy(grace=timedelta()), "13:59", "14:00") == [("fired", "14:00:00", "14:00:00", 1, "")]


def test_what_is_past_its_grace_is_one_record() -> None:
    assert decide(HOURLY, Policy("all", grace=timedelta(hours=2)), "08:30", "13:30") == [
        ("skipped", "09:00:00", "11:00:00", 3, "past its grace"),
        ("fired", "12:00:00", "12:00:00", 1, ""),
        ("fired", "13:00:00", "13:00:00", 1, ""),
    ]
    assert decide(HOURLY, Policy("all", grace=timedelta.max), "12:30", "13:30") == [
        ("fired", "13:00:00", "13:00:00", 1, "")
    ]


def test_a_weekly_entry_is_caught_up_under_last_sunday_and_never_under_now() -> None:
    weekly = Cron("0 0 * * 0", UTC)
    now = at("2026-07-03T10:00Z")
    assert [found.first for found in plan(weekly, Policy(), now - days(28), now, now)][-1] == at("2026-06-28T00:00Z")
    skipped = plan(weekly, Policy("skip"), now - days(28), now, now)
    assert skipped == (Decision(Outcome.SKIPPED, at("2026-06-07T00:00Z"), at("2026-06-28T00:00Z"), 4, "no holder"),)


def test_a_gap_and_a_repeated_hour_are_planned_in_utc() -> None:
    zone = ZoneInfo("America/New_York")
    half_past = Cron("30 1,2 * * *", zone)
    fired = plan(half_past, Policy("all"), at("2026-03-08T06:00Z"), at("2026-03-08T08:00Z"), at("2026-03-08T06:00Z"))
    assert [found.first for found in fired] == [at("2026-03-08T06:30Z"), at("2026-03-08T07:00Z")]
    every_hour = Cron("30 * * * *", zone)
    fired = plan(every_hour, Policy("all"), at("2026-11-01T05:00Z"), at("2026-11-01T07:00Z"), at("2026-11-01T05:00Z"))
    assert [found.first for found in fired] == [at("2026-11-01T05:30Z"), at("2026-11-01T06:30Z")]


@pytest.mark.parametrize("policy", [Policy(), Policy("all"), Policy("skip"), Policy("all", timedelta(hours=1))])
@pytest.mark.parametrize("timing", [Cron("* * * * *", ZoneInfo("Europe/Budapest")), every("1m").anchored(MIDNIGHT)])
def test_a_year_of_missed_minutes_is_planned_by_bisection(timing: Timing, policy: Policy) -> None:
    now = MIDNIGHT + days(401)
    since = now - timedelta(minutes=5)
    assert sum(found.count for found in plan(timing, policy, now - days(400), now, since, 1000)) == 576_000
    counting, burst = Counting(timing), 100
    plan(counting, policy, now - days(400), now, since, burst)
    # 400 days are 2^35 ms: some 35 questions for each end that is searched for, four at most; and one for each fire.
    assert counting.asked < burst + 4 * 40


INSTANTS = st.datetimes(datetime(2023, 1, 1), datetime(2027, 1, 1), timezones=st.just(UTC))
POLICIES = st.builds(
    Policy,
    st.sampled_from(["latest", "all", "skip"]),
    st.one_of(st.none(), st.integers(0, 10**5).map(lambda seconds: timedelta(seconds=seconds))),
    st.integers(1, 12),
)
ZONES = st.sampled_from(["Europe/Budapest", "Australia/Lord_Howe", "Africa/Casablanca", "America/Havana"]).map(ZoneInfo)
CRONS = st.builds(Cron, specs.SPECS_IN_NUMBERS, ZONES) | st.builds(Cron, st.just("*/20 */3 * * *"), ZONES)
GRIDS = st.builds(Every, st.integers(10**6, 10**8).map(lambda each: timedelta(milliseconds=each)), INSTANTS)


def by_the_walk(
    due: list[datetime], policy: Policy, now: datetime, serving_since: datetime, burst: int
) -> list[tuple[Outcome, str, list[datetime]]]:
    """The plan after the words of the documentation: each instant has its decision, neighbours share a record."""

    def outcome(place: int, instant: datetime) -> tuple[Outcome, str]:
        if policy.catch_up == "skip" and instant <= serving_since:
            return Outcome.SKIPPED, "no holder"
        newer = len(due) - place - 1
        if policy.catch_up == "all" and newer >= policy.limit:
            return Outcome.COALESCED, "over the limit"
        if policy.catch_up != "all" and newer >= 1:
            return Outcome.COALESCED, "older than the latest"
        if policy.grace is not None and now - instant > policy.grace:
            return Outcome.SKIPPED, "past its grace"
        return Outcome.FIRED, ""

    records: list[tuple[Outcome, str, list[datetime]]] = []
    decided = [(*outcome(place, instant), instant) for place, instant in enumerate(due)]
    for (what, why), group in groupby(decided, lambda each: each[:2]):
        members = [instant for *_, instant in group]
        if what is Outcome.FIRED:
            records += [(what, why, [instant]) for instant in members[:burst]]
        else:
            records.append((what, why, members))
    return records


@settings(max_examples=300, deadline=None)
@given(
    CRONS | GRIDS, POLICIES, INSTANTS, st.integers(0, 4 * 86_400), st.integers(-5000, 5 * 86_400), st.integers(1, 20)
)
def test_a_plan_is_what_a_walk_over_the_instants_decides(
    timing: Timing, policy: Policy, watermark: datetime, span: int, served: int, burst: int
) -> None:
    now, serving_since = watermark + timedelta(seconds=span), watermark + timedelta(seconds=served)
    found = plan(timing, policy, watermark, now, serving_since, burst)
    expected = by_the_walk(walk(timing, watermark, now), policy, now, serving_since, burst)
    assert found == tuple(
        Decision(outcome, members[0], members[-1], len(members), reason) for outcome, reason, members in expected
    )


@settings(max_examples=100, deadline=None)
@given(CRONS | GRIDS, INSTANTS, st.integers(0, 3 * 86_400), st.integers(0, 3 * 86_400))
def test_the_fires_of_two_turns_are_those_of_one(timing: Timing, watermark: datetime, one: int, two: int) -> None:
    policy = Policy("all", limit=10**6)
    middle = watermark + timedelta(seconds=one)
    now = middle + timedelta(seconds=two)
    first = plan(timing, policy, watermark, middle, watermark, 10**6)
    second = plan(timing, policy, middle, now, watermark, 10**6)
    assert first + second == plan(timing, policy, watermark, now, watermark, 10**6)


@settings(max_examples=100, deadline=None)
@given(CRONS | GRIDS, INSTANTS, st.integers(0, 4 * 86_400), st.integers(1, 7))
def test_a_plan_that_the_burst_cuts_goes_on_where_it_ended(
    timing: Timing, watermark: datetime, span: int, burst: int
) -> None:
    policy, now = Policy("all"), watermark + timedelta(seconds=span)
    fired: list[datetime] = []
    while part := plan(timing, policy, fired[-1] if fired else watermark, now, watermark, burst):
        assert len(part) <= burst
        fired += [decision.first for decision in part]
    assert fired == walk(timing, watermark, now)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"catch_up": "once"}, "catch_up='once' is not known; take one of latest, all, skip"),
        ({"catch_up": None}, "catch_up=None"),
        ({"grace": timedelta(seconds=-1)}, "not negative"),
        ({"grace": 60}, "grace=60 is not possible; take a timedelta"),
        ({"limit": 0}, "limit=0 is not possible; take a whole number"),
        ({"limit": True}, "limit=True"),
        ({"limit": 2.5}, "limit=2.5"),
    ],
)
def test_a_policy_is_checked(options: dict[str, object], words: str) -> None:
    with pytest.raises(OptionError) as raised:
        Policy(**options)  # type: ignore[arg-type]
    assert words in str(raised.value)


def test_a_naive_clock_is_refused() -> None:
    with pytest.raises(ValueError, match="naive"):
        plan(HOURLY, Policy(), MIDNIGHT, datetime(2026, 7, 2), MIDNIGHT)
