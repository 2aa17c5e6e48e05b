"""Instants of ``Cron``, as tables of ISO text: daylight saving, days and dates that people met as faults."""

import pickle
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta, timezone
from time import thread_time
from zoneinfo import ZoneInfo

import pytest

from celery_leased_beat.errors import SpecError
from celery_leased_beat.timing import Cron, daily_at
from tests.core.walk import at, days, first, walk


def in_zone(spec: str, zone: str) -> Cron:
    return Cron(spec, ZoneInfo(zone))


# fmt: off
TABLE = {
    "a fixed time in the repeated hour is due at the first": ("30 1 * * *", "America/New_York", "2026-10-31T00:00Z",
        ["2026-10-31T05:30Z", "2026-11-01T05:30Z", "2026-11-02T06:30Z"]),
    "a fixed time in the gap is due at its end": ("30 2 * * *", "America/New_York", "2026-03-07T00:00Z",
        ["2026-03-07T07:30Z", "2026-03-08T07:00Z", "2026-03-09T06:30Z"]),
    "several fixed times in one gap are due once": ("0,15,30,45 2,3 * * *", "America/New_York", "2026-03-08T06:59Z",
        ["2026-03-08T07:00Z", "2026-03-08T07:15Z"]),
    "the wall clock has nothing in the gap": ("*/30 2 * * *", "America/New_York", "2026-03-07T00:00Z",
        ["2026-03-07T07:00Z", "2026-03-07T07:30Z", "2026-03-09T06:00Z"]),
    "the wall clock shows the repeated hour twice": ("30 * * * *", "America/New_York", "2026-11-01T04:45Z",
        ["2026-11-01T05:30Z", "2026-11-01T06:30Z", "2026-11-01T07:30Z"]),
    "a range follows the wall clock": ("0 1-2 * * *", "America/New_York", "2026-11-01T04:45Z",
        ["2026-11-01T05:00Z", "2026-11-01T06:00Z", "2026-11-01T07:00Z", "2026-11-02T06:00Z"]),
    "a step of hours has nothing in the gap": ("30 */2 * * *", "Europe/Budapest", "2026-03-28T22:45Z",
        ["2026-03-28T23:30Z", "2026-03-29T02:30Z"]),
    "the day after a change is not an hour off": ("4 16 * * *", "America/New_York", "2025-03-07T00:00Z",
        ["2025-03-07T21:04Z", "2025-03-08T21:04Z", "2025-03-09T20:04Z", "2025-03-10T20:04Z"]),
    "a week across a change": ("0 12 * * 1", "Europe/Amsterdam", "2013-10-21T00:00Z",
        ["2013-10-21T10:00Z", "2013-10-28T11:00Z", "2013-11-04T11:00Z"]),
    "the evening of a change": ("0 20 * * *", "Europe/Paris", "2022-10-30T00:00Z",
        ["2022-10-30T19:00Z", "2022-10-31T19:00Z"]),
    "the Sunday of a change": ("0 12 * * 0", "Europe/Berlin", "2022-03-24T11:00Z", ["2022-03-27T10:00Z"]),
    "months by a step": ("* * * */3 *", "America/New_York", "2015-02-15T00:00Z",
        ["2015-04-01T04:00Z", "2015-04-01T04:01Z"]),
    "half an hour of daylight saving": ("*/7 * * * *", "Australia/Lord_Howe", "2023-04-01T14:55Z",
        ["2023-04-01T14:56Z", "2023-04-01T15:05Z", "2023-04-01T15:12Z"]),
    "the repeated last hour of a day": ("0 * * 5-10 *", "Africa/Cairo", "2024-10-31T19:30Z",
        ["2024-10-31T20:00Z", "2024-10-31T21:00Z", "2025-04-30T21:00Z"]),
    "midnight in a gap": ("0 0 * * *", "Asia/Beirut", "2024-03-30T00:00Z",
        ["2024-03-30T22:00Z", "2024-03-31T21:00Z"]),
    "midnight repeated": ("0 0 * * *", "America/Havana", "2024-11-02T12:00Z",
        ["2024-11-03T04:00Z", "2024-11-04T05:00Z"]),
    "two hours of daylight saving": ("30 1,2 * * *", "Antarctica/Troll", "2024-03-31T00:00Z",
        ["2024-03-31T01:00Z", "2024-03-31T23:30Z"]),
    "negative daylight saving": ("30 1 * * *", "Europe/Dublin", "2024-10-26T12:00Z",
        ["2024-10-27T00:30Z", "2024-10-28T01:30Z"]),
    "a whole day in the gap": ("0 6,18 * * *", "Pacific/Apia", "2011-12-29T20:00Z",
        ["2011-12-30T04:00Z", "2011-12-30T10:00Z", "2011-12-30T16:00Z"]),
    "29 February": ("0 0 29 2 *", "UTC", "2026-01-01T00:00Z", ["2028-02-29T00:00Z", "2032-02-29T00:00Z"]),
    "29 February over a century": ("0 0 29 2 *", "UTC", "2096-03-01T00:00Z", ["2104-02-29T00:00Z"]),
    "either day field is enough": ("30 4 1,15 * 5", "UTC", "2023-05-01T00:00Z",
        ["2023-05-01T04:30Z", "2023-05-05T04:30Z", "2023-05-12T04:30Z", "2023-05-15T04:30Z", "2023-05-19T04:30Z",
         "2023-05-26T04:30Z"]),
    "an impossible date beside a weekday": ("0 0 30 2 1", "UTC", "2026-01-01T00:00Z",
        ["2026-02-02T00:00Z", "2026-02-09T00:00Z"]),
    "a day field in full beside another is every day": ("0 0 1-31 * 1", "UTC", "2026-01-01T00:00Z",
        ["2026-01-02T00:00Z", "2026-01-03T00:00Z"]),
    "a step counts as given": ("0 0 */10 * 1", "UTC", "2026-01-01T00:00Z",
        ["2026-01-05T00:00Z", "2026-01-11T00:00Z", "2026-01-12T00:00Z"]),
    "one day as a range is that day": ("0 0 1-1 * *", "UTC", "2026-01-01T00:00Z",
        ["2026-02-01T00:00Z", "2026-03-01T00:00Z"]),
    "a Sunday once": ("0 0 * * 7", "UTC", "2026-01-01T00:00Z", ["2026-01-04T00:00Z", "2026-01-11T00:00Z"]),
    "offsets with seconds": ("0 0 * * *", "Africa/Monrovia", "1970-01-01T12:00Z",
        ["1970-01-02T00:44:30Z", "1970-01-03T00:44:30Z"]),
}
# fmt: on


@pytest.mark.parametrize(("spec", "zone", "after", "instants"), TABLE.values(), ids=TABLE.keys())
def test_instants(spec: str, zone: str, after: str, instants: list[str]) -> None:
    cron = in_zone(spec, zone)
    assert first(cron, after, len(instants)) == [at(instant) for instant in instants]
    assert cron.count(at(after), at(instants[-1])) == len(instants)


@pytest.mark.parametrize(("spec", "zone", "after", "instants"), TABLE.values(), ids=TABLE.keys())
def test_instants_are_those_of_one_just_started(spec: str, zone: str, after: str, instants: list[str]) -> None:
    for earlier, instant in zip([after, *instants], instants, strict=False):
        assert in_zone(spec, zone).next_after(at(instant) - timedelta(seconds=1)) == at(instant)
        assert in_zone(spec, zone).next_after(at(earlier)) == at(instant)


# fmt: off
BOTH_DAYS = {
    "both day fields are wanted": ("30 4 1,15 * 5", "2023-05-01T00:00Z",
        ["2023-09-01T04:30Z", "2023-09-15T04:30Z", "2023-12-01T04:30Z"]),
    "a full day field restricts nothing": ("0 0 1-31 * 1", "2026-01-01T00:00Z",
        ["2026-01-05T00:00Z", "2026-01-12T00:00Z"]),
    "one day field alone": ("0 0 13 * *", "2026-01-01T00:00Z", ["2026-01-13T00:00Z", "2026-02-13T00:00Z"]),
    "29 February on a Sunday, over a century": ("0 0 29 2 0", "2088-03-01T00:00Z", ["2128-02-29T00:00Z"]),
}
# fmt: on


@pytest.mark.parametrize(("spec", "after", "instants"), BOTH_DAYS.values(), ids=BOTH_DAYS.keys())
def test_instants_where_both_days_are_wanted(spec: str, after: str, instants: list[str]) -> None:
    cron = Cron(spec, UTC, both_days=True)
    assert first(cron, after, len(instants)) == [at(instant) for instant in instants]
    assert cron.count(at(after), at(instants[-1])) == len(instants)


def test_both_days_make_another_timing_where_both_restrict() -> None:
    assert Cron("30 4 1 * 5", UTC, both_days=True).key == "cron 30 4 1 * 5 both-days UTC"
    assert Cron("30 4 1 * 5", both_days=True).resolved(UTC) == Cron("30 4 1 * 5", UTC, both_days=True)
    assert Cron("30 4 1 * *", UTC, both_days=True).key == Cron("30 4 1 * *", UTC).key
    assert "if on Friday (both are wanted)" in Cron("30 4 1 * 5", UTC, both_days=True).describe()


def test_an_impossible_date_is_refused_though_a_weekday_is_given() -> None:
    with pytest.raises(SpecError, match="no date ever matches"):
        Cron("0 0 30 2 1", both_days=True)


@pytest.mark.parametrize("spec", ["0 0 30 2 *", "0 0 31 4 *", "0 0 31 2,4,6,9,11 *", "*/5 * 31 jun *"])
def test_an_impossible_date_is_refused_at_once(spec: str) -> None:
    begin = thread_time()
    with pytest.raises(SpecError, match="no date ever matches"):
        Cron(spec)
    assert thread_time() - begin < 0.05


def test_a_rare_date_is_accepted() -> None:
    assert in_zone("0 0 31 * *", "UTC").next_after(at("2026-08-31T00:00Z")) == at("2026-10-31T00:00Z")
    assert in_zone("0 0 29 2 *", "UTC").next_after(at("2026-07-03T10:00Z")) == at("2028-02-29T00:00Z")


def test_nothing_is_due_at_start_but_what_the_spec_names() -> None:
    weekly = in_zone("0 0 * * 0", "UTC")
    assert weekly.next_after(at("2026-07-03T10:00Z")) == at("2026-07-05T00:00Z")
    assert daily_at("00:00").resolved(UTC).next_after(at("2026-07-03T23:55Z")) == at("2026-07-04T00:00Z")


def test_an_instant_is_asked_for_in_any_zone_and_given_in_utc() -> None:
    cron = in_zone("0 9 * * *", "Asia/Shanghai")
    asked = datetime(2026, 7, 1, 20, 0, tzinfo=ZoneInfo("America/New_York"))
    following = cron.next_after(asked)
    assert following == at("2026-07-02T01:00Z")
    assert following.tzinfo is UTC


def test_the_repeated_hour_is_told_apart_in_the_zone_of_the_question() -> None:
    zone = ZoneInfo("America/New_York")
    second_pass = datetime(2026, 11, 1, 1, 15, tzinfo=zone, fold=1)
    assert Cron("30 * * * *", zone).next_after(second_pass) == at("2026-11-01T06:30Z")
    assert Cron("30 * * * *", zone).count(second_pass.replace(fold=0), second_pass) == 1


def test_a_naive_datetime_is_refused() -> None:
    cron = in_zone("0 9 * * *", "UTC")
    naive = datetime(2026, 7, 1)
    with pytest.raises(ValueError, match="naive"):
        cron.next_after(naive)
    with pytest.raises(ValueError, match="naive"):
        cron.count(naive, at("2026-07-01T00:00Z"))


def test_without_a_zone_it_has_no_instants() -> None:
    with pytest.raises(ValueError, match="no time zone yet"):
        Cron("0 9 * * *").next_after(at("2026-07-01T00:00Z"))


def test_a_zone_of_its_own_is_kept() -> None:
    budapest = ZoneInfo("Europe/Budapest")
    assert Cron("@daily").resolved(budapest) == Cron("@daily", budapest)
    assert Cron("@daily", UTC).resolved(budapest) == Cron("@daily", UTC)


def test_an_anchor_changes_nothing() -> None:
    cron = in_zone("@daily", "UTC")
    assert cron.anchored(at("2026-07-01T00:00Z")) is cron


def test_a_fixed_offset_is_a_zone() -> None:
    cron = Cron("0 9 * * *", timezone(timedelta(hours=5, minutes=30)))
    assert cron.next_after(at("2026-07-01T00:00Z")) == at("2026-07-01T03:30Z")
    assert cron.key == "cron 0 9 * * * UTC+05:30"


def test_the_calendar_ends() -> None:
    cron = in_zone("0 0 29 2 *", "Europe/Budapest")
    assert cron.next_after(at("9998-01-01T00:00Z")) is None
    assert cron.next_after(at("9999-06-01T00:00Z")) is None
    assert cron.count(at("9990-01-01T00:00Z"), at("9999-06-01T00:00Z")) == 2


def test_a_span_that_runs_backwards_is_empty() -> None:
    cron = in_zone("* * * * *", "UTC")
    assert cron.count(at("2026-07-02T00:00Z"), at("2026-07-01T00:00Z")) == 0
    assert cron.count(at("2026-07-02T00:00Z"), at("2026-07-02T00:00Z")) == 0


def test_threads_may_share_one() -> None:
    cron = in_zone("*/7 1-5 * * 1,3", "Europe/Budapest")
    starts = [at("2026-01-01T00:00Z") + days(number) for number in range(40)]
    alone = [walk(cron, start, start + days(3)) for start in starts]
    with ThreadPoolExecutor(8) as pool:
        together = list(pool.map(lambda start: walk(cron, start, start + days(3)), starts))
    assert together == alone


def test_it_survives_pickling() -> None:
    cron = in_zone("0 3 * * mon-fri", "Europe/Budapest")
    copy = pickle.loads(pickle.dumps(cron))
    assert copy == cron
    assert copy.next_after(at("2026-07-01T12:00Z")) == cron.next_after(at("2026-07-01T12:00Z"))


def test_years_of_minutes_are_counted_in_no_time() -> None:
    cron = in_zone("* * * * *", "America/New_York")
    until = at("2026-07-01T00:00Z")
    assert cron.count(until - days(3653), until) == 3653 * 1440
    begin = thread_time()
    for _ in range(10):
        cron.count(until - days(3653), until)
    assert (thread_time() - begin) / 10 < 0.02


def test_asking_is_cheap() -> None:
    cron = in_zone("30 4 1,15 * 5", "America/New_York")
    instant = at("2026-07-01T00:00Z")
    cron.next_after(instant)
    begin = thread_time()
    for _ in range(50):
        cron.next_after(instant)
    assert (thread_time() - begin) / 50 < 0.005
