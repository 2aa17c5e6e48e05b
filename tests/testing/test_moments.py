"""Made-up times: what a test may write, and which instant that is."""

from datetime import UTC, datetime, timedelta, timezone
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from celery_leased_beat.testing import to_instant

BUDAPEST = ZoneInfo("Europe/Budapest")


@pytest.mark.parametrize(
    ("moment", "instant"),
    [
        ("2026-10-25T01:30 Europe/Budapest", "2026-10-24T23:30Z"),
        ("2026-10-25 01:30 Europe/Budapest", "2026-10-24T23:30Z"),
        ("2026-10-25T03:00 Europe/Budapest", "2026-10-25T02:00Z"),
        ("2026-10-25 Europe/Budapest", "2026-10-24T22:00Z"),
        ("2026-03-29T01:59:59.999 Europe/Budapest", "2026-03-29T00:59:59.999Z"),
        ("2026-03-29T03:00 Europe/Budapest", "2026-03-29T01:00Z"),
        ("2026-10-25T01:30 UTC", "2026-10-25T01:30Z"),
        ("2026-10-25T01:30Z", "2026-10-25T01:30Z"),
        ("2026-10-25 01:30+02:00", "2026-10-24T23:30Z"),
        ("2026-10-25T02:30+02:00 Europe/Budapest", "2026-10-25T00:30Z"),
        ("2026-10-25T02:30+01:00 Europe/Budapest", "2026-10-25T01:30Z"),
        (datetime(2026, 10, 25, 1, 30, tzinfo=timezone(timedelta(hours=2))), "2026-10-24T23:30Z"),
        (datetime(2026, 10, 25, 2, 30, tzinfo=BUDAPEST, fold=1), "2026-10-25T01:30Z"),
        (datetime(2026, 10, 25, 1, 30, 0, 123_999, tzinfo=UTC), "2026-10-25T01:30:00.123Z"),
    ],
)
def test_a_moment_is_an_instant(moment: datetime | str, instant: str) -> None:
    read = to_instant(moment)
    assert read == datetime.fromisoformat(instant)
    assert read.tzinfo is UTC


@pytest.mark.parametrize(
    ("moment", "why"),
    [
        ("2026-03-29T02:30 Europe/Budapest", "there is no such time, the clock jumps over it"),
        ("2026-03-29T02:30+01:00 Europe/Budapest", "there is no such time"),
        (
            "2026-10-25T02:30 Europe/Budapest",
            "it comes twice; write 2026-10-25T02:30:00[+]02:00 or 2026-10-25T02:30:00[+]01:00",
        ),
        ("2026-10-25T01:30+01:00 Europe/Budapest", "that is not its offset; write 2026-10-25T01:30:00[+]02:00"),
        ("2026-10-25T01:30", "write it with an offset or with a zone"),
        ("2026-10-25 01:30", "write it with an offset or with a zone"),
        ("2026-10-25", "write it with an offset or with a zone"),
        ("2026-13-25T01:30Z", "'2026-13-25T01:30Z' is no instant: month must be in"),
        ("2026-13-25 01:30", "'2026-13-25 01:30' is no instant: month must be in"),
        ("2026-02-30T01:30 Europe/Budapest", "'2026-02-30T01:30' is no instant: day "),
        ("2026-10-25T25:30+02:00", "is no instant: hour must be in"),
        ("2026-1-5T01:30Z", "is no instant; write it such as '2026-10-25T01:30[+]02:00' or '"),
        ("0001-01-01T00:00+02:00", "is no instant: in UTC it lies beyond the calendar"),
        (None, "^None is no instant; give an aware datetime or a text such as '2026"),
        (5, "^5 is no instant; give an aware datetime or a text"),
        ("tomorrow", "is no instant"),
        ("half past UTC", "is no instant"),
        ("", "is no instant"),
        ("2026-10-25T01:30 Europe/Budapst", "did you mean 'Europe/Budapest'"),
        (datetime(2026, 10, 25, 1, 30), "naive"),  # noqa: DTZ001
    ],
)
def test_what_is_no_instant_says_why(moment: Any, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        to_instant(moment)
