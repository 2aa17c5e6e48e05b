"""Zones, times and spans around changes of an offset, drawn by hypothesis."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo, available_timezones

from hypothesis import strategies as st

from tests.core import brute

#: Zones whose changes of offset are unlike the usual ones.
HARD = (
    "Australia/Lord_Howe",  # half an hour of daylight saving
    "America/Havana",  # changes at midnight and at one
    "Africa/Cairo",  # the repeated hour ends the day
    "Asia/Beirut",  # the gap begins the day
    "America/Asuncion",
    "Antarctica/Troll",  # two hours
    "Europe/Dublin",  # daylight saving in winter, negative
    "Africa/Casablanca",  # off for Ramadan, negative
    "Pacific/Chatham",  # 45 minutes past
    "America/Santiago",
    "Pacific/Apia",  # a day left out in 2011
    "Pacific/Kwajalein",  # a day left out in 1993
)
ZONES = st.sampled_from([*HARD, *sorted(available_timezones())])
YEARS = st.integers(1973, 2099)
INSTANTS = st.datetimes(datetime(1900, 1, 3), datetime(2200, 1, 1), timezones=st.just(UTC))


@st.composite
def around_a_change(draw: st.DrawFn) -> tuple[str, datetime, datetime]:
    """A zone and a span around one of its changes of offset."""
    zone, year = draw(ZONES), draw(YEARS)
    middle = draw(st.sampled_from(brute.changes(ZoneInfo(zone), year) or [datetime(year, 1, 1, tzinfo=UTC)]))
    before = draw(st.integers(-5 * 3600, 24 * 3600))
    return zone, middle - timedelta(seconds=before), middle + timedelta(hours=draw(st.integers(6, 30)))
