"""No zone shifts an instant: the app's, Django's and the host's, with and without ``enable_utc`` and ``USE_TZ``."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from tests.core.zones_program import SECONDS, ZONES

pytest.importorskip("django")

ROOT = Path(__file__).parents[2]
FRAMES = [(use_tz, host) for use_tz in ("1", "0") for host in ("UTC", "Asia/Tokyo")]


@pytest.fixture(scope="module", params=FRAMES, ids=[f"USE_TZ={use_tz} TZ={host}" for use_tz, host in FRAMES])
def cells(request: pytest.FixtureRequest) -> dict[tuple[str, bool], Any]:
    """The cells of one process, by zone and ``enable_utc``."""
    use_tz, host = request.param
    frame = {"USE_TZ": use_tz, "TZ": host, "DJANGO_SETTINGS_MODULE": "tests.core.zones_settings"}
    done = subprocess.run(
        [sys.executable, "-m", "tests.core.zones_program"], env={**os.environ, **frame}, cwd=ROOT,
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return {(zone, enable_utc): cell for zone, enable_utc, cell in json.loads(done.stdout)}


@pytest.mark.parametrize("enable_utc", [True, False])
@pytest.mark.parametrize("zone", ZONES)
def test_a_zone_shifts_no_instant(cells: dict[tuple[str, bool], Any], zone: str, enable_utc: bool) -> None:
    cell = cells[zone, enable_utc]
    assert cell["grid"] == {"ours": 10, "plain": 10}
    here, elsewhere = list(nine_o_clock(zone)), list(nine_o_clock("Asia/Tokyo"))
    assert cell["daily"] == {"ours": here, "plain": here, "elsewhere": elsewhere}
    for option, seconds in SECONDS.items():
        assert seconds <= cell["message"][option] < seconds + 120, option


def nine_o_clock(zone: str) -> Iterator[str]:
    """Nine in the morning of each day of 2026 in ``zone``, in UTC: an hour that no change of the clocks touches."""
    begin, end = datetime(2026, 1, 1, tzinfo=UTC), datetime(2027, 1, 1, tzinfo=UTC)
    for number in range(-1, 367):
        day = date(2026, 1, 1) + timedelta(days=number)
        instant = datetime.combine(day, time(9), ZoneInfo(zone)).astimezone(UTC)
        if begin <= instant < end:
            yield instant.isoformat()
