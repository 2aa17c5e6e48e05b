"""From what a user writes to a timing."""

from datetime import UTC, datetime, timedelta, timezone, tzinfo
from zoneinfo import ZoneInfo

import pytest

from celery_leased_beat.errors import SpecError
from celery_leased_beat.timing import Cron, Every, Timing, daily_at, every, parse, to_duration, to_zone


def test_a_string_of_five_fields_is_a_cron() -> None:
    assert parse("0 3 * * *") == Cron("0 3 * * *")
    assert parse("@daily") == Cron("@daily")


@pytest.mark.parametrize("spec", ["@every 1h30m", " @EVERY  1h30m ", timedelta(minutes=90), every("90m")])
def test_an_interval_is_an_every(spec: str | timedelta | Timing) -> None:
    assert parse(spec) == Every(timedelta(minutes=90))


def test_a_timing_is_returned_as_it_is() -> None:
    timing = daily_at("06:30")
    assert parse(timing) is timing
    assert isinstance(timing, Timing)


@pytest.mark.parametrize("spec", [None, 5, 2.5, b"@daily", datetime(2026, 7, 1, tzinfo=UTC), Every, Cron])
def test_anything_else_is_refused(spec: object) -> None:
    with pytest.raises(SpecError, match="is not a timing; take a cron spec"):
        parse(spec)  # type: ignore[arg-type]


def test_a_time_of_day_is_a_cron() -> None:
    assert daily_at("06:30") == Cron("30 6 * * *")
    assert daily_at("6:05") == Cron("5 6 * * *")


@pytest.mark.parametrize("text", ["25:61", "24:00", "12:60", "6", "06:5", "06:30:00", "6.30", "", " 06:30", None, 630])
def test_another_time_of_day_is_refused(text: object) -> None:
    with pytest.raises(SpecError, match="not a time of day; take 'HH:MM'"):
        daily_at(text)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("15s", 15), ("1h30m", 5400), ("250ms", 0.25), ("1.5h", 5400), ("1m0.5s", 60.5), ("2d", 172_800), ("1w", 604_800)],
)
def test_a_duration_is_read_as_go_writes_it(text: str, seconds: float) -> None:
    assert to_duration(text) == timedelta(seconds=seconds)
    assert every(text) == Every(timedelta(seconds=seconds))


@pytest.mark.parametrize("text", ["", "15", "15 s", "1h x 30m", "-5s", "5mm", "1y", "1..5s", "h", "١s", None, 5])
def test_another_duration_is_refused(text: object) -> None:
    with pytest.raises(SpecError, match="is not a duration"):
        to_duration(text)  # type: ignore[arg-type]


def test_a_duration_beyond_all_is_refused() -> None:
    with pytest.raises(SpecError, match="too long"):
        to_duration("9" * 400 + "w")


def test_a_zone_is_found_by_its_name() -> None:
    assert to_zone("Europe/Budapest") is ZoneInfo("Europe/Budapest")
    assert to_zone(UTC) is UTC
    assert to_zone(timezone(timedelta(hours=2))) == timezone(timedelta(hours=2))


def test_an_unknown_zone_is_refused_with_a_guess() -> None:
    with pytest.raises(SpecError, match="unknown time zone 'Europe/Budapset'; did you mean 'Europe/Budapest'"):
        to_zone("Europe/Budapset")


@pytest.mark.parametrize("name", ["", "Nowhere", "Europe", "../UTC", "/etc/passwd", "UTC\0", "tzdata.zi"])
def test_what_is_no_zone_is_refused(name: str) -> None:
    with pytest.raises(SpecError, match="unknown time zone"):
        to_zone(name)


class Foreign(tzinfo):
    """A zone of another library: its name is in ``zone``."""

    def __init__(self, zone: str | None) -> None:
        self.zone = zone

    def utcoffset(self, instant: datetime | None) -> timedelta:
        return timedelta(hours=9)

    def dst(self, instant: datetime | None) -> timedelta:
        return timedelta()

    def tzname(self, instant: datetime | None) -> str | None:
        return self.zone


def test_a_zone_of_another_library_becomes_the_standard_one() -> None:
    assert to_zone(Foreign("Asia/Tokyo")) is ZoneInfo("Asia/Tokyo")


def test_a_zone_without_a_name_is_refused() -> None:
    with pytest.raises(SpecError, match="no name that means the same everywhere"):
        to_zone(Foreign(None))
    with pytest.raises(SpecError, match="no name that means the same everywhere"):
        Cron("@daily", Foreign(None))
