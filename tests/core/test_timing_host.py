"""Time zones that do not know their own name: what they are called."""

from datetime import datetime, timedelta, timezone, tzinfo
from importlib.resources import files
from pathlib import Path
from typing import IO
from zoneinfo import TZPATH, ZoneInfo

import pytest
from dateutil import tz

from celery_leased_beat.errors import SpecError
from celery_leased_beat.timing import to_named_zone, zone_of_host

BUDAPEST = ZoneInfo("Europe/Budapest")


class Wild(tzinfo):
    """An offset of its own every month."""

    def utcoffset(self, when: datetime | None) -> timedelta:
        return timedelta(minutes=when.month if when else 0)


def zone_file(name: str) -> IO[bytes]:
    """Open the file of a zone in the system's zone database, or in that of the package tzdata."""
    for folder in TZPATH:
        if (file := Path(folder, name)).exists():
            return file.open("rb")
    return files("tzdata").joinpath("zoneinfo", *name.split("/")).open("rb")


@pytest.fixture(autouse=True)
def host(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "Europe/Budapest")


def test_a_zone_with_a_name_keeps_it() -> None:
    assert to_named_zone(ZoneInfo("Asia/Tokyo")) is ZoneInfo("Asia/Tokyo")
    assert to_named_zone(timezone(timedelta(hours=3))) == timezone(timedelta(hours=3))


def test_a_zone_that_does_what_the_host_does_is_the_hosts() -> None:
    same = tz.gettz("Europe/Budapest")
    assert same is not None
    assert to_named_zone(same) is BUDAPEST


def test_a_zone_of_a_file_that_is_called_local_is_the_hosts() -> None:
    with zone_file("Europe/Budapest") as file:
        assert to_named_zone(ZoneInfo.from_file(file, key="local")) is BUDAPEST


def test_a_zone_of_one_offset_is_that_offset() -> None:
    assert to_named_zone(tz.tzoffset(None, 3600)) == timezone(timedelta(hours=1))


def test_a_zone_that_nothing_is_known_of_is_an_error() -> None:
    with pytest.raises(SpecError, match="no name that means the same everywhere"):
        to_named_zone(Wild())


@pytest.mark.parametrize("name", ["Europe/Budapest", ":Europe/Budapest", "/usr/share/zoneinfo/Europe/Budapest"])
def test_the_zone_of_the_host_is_that_of_its_variable(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", name)
    assert zone_of_host() is BUDAPEST


@pytest.mark.parametrize("name", ["CET-1CEST,M3.5.0,M10.5.0/3", "", "Nowhere/At_All", "../../etc/passwd"])
def test_a_variable_that_is_no_name_tells_nothing(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", name)
    assert zone_of_host() is None
