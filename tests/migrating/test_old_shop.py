"""An unknown Django project is switched by one setting: what fires, and what is sent, is what plain beat does.

Where the clocks change plain beat is no measure (Celery's crontab loses and repeats instants, more or less of them from
version to version), so the instants of those weeks are written out, or searched for minute by minute.
"""

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import ephem
import pytest

from tests.core import brute
from tests.core.walk import at
from tests.nodes.process import ROOT
from tests.nodes.programs import require_module

PROJECT = Path(__file__).parent / "project"
SCHEDULER = "celery_leased_beat.Scheduler"
ZONE = ZoneInfo("Europe/Budapest")
SECOND, HOUR = timedelta(seconds=1), timedelta(hours=1)

#: The crontabs whose minutes can be looked at one by one; that of both days wants both, where a spec has either.
SPECS = {
    "quarters": "*/15 * * * *",
    "nightly": "30 2 * * *",
    "office hours": "0 9-17 * * mon-fri",
    "wrapping": "0-5,55-59 2,22 * * *",
}
GRIDS = {"timedelta": 1.5 * HOUR, "seconds": 5400.5 * SECOND, "relative schedule": 2 * HOUR}

#: What no other code can tell, written out.
CLOCKS_GO_BACK = ("2026-10-22T00:00Z", "2026-10-29T00:00Z", {
    "nightly": ["2026-10-22T00:30Z", "2026-10-23T00:30Z", "2026-10-24T00:30Z", "2026-10-25T00:30Z",
                "2026-10-26T01:30Z", "2026-10-27T01:30Z", "2026-10-28T01:30Z"],
    "both days": ["2026-10-22T04:00Z", "2026-10-22T16:00Z", "2026-10-25T05:00Z", "2026-10-25T17:00Z",
                  "2026-10-27T05:00Z", "2026-10-27T17:00Z"],
    "relative days": ["2026-10-23T22:00Z", "2026-10-25T23:00Z", "2026-10-27T23:00Z"],
})  # fmt: skip
CLOCKS_GO_FORWARD = ("2026-03-26T00:00Z", "2026-04-02T00:00Z", {
    "nightly": ["2026-03-26T01:30Z", "2026-03-27T01:30Z", "2026-03-28T01:30Z", "2026-03-29T01:00Z",
                "2026-03-30T00:30Z", "2026-03-31T00:30Z", "2026-04-01T00:30Z"],
    "both days": ["2026-03-26T05:00Z", "2026-03-26T17:00Z", "2026-03-29T04:00Z", "2026-03-29T16:00Z"],
    "relative days": ["2026-03-27T23:00Z", "2026-03-29T22:00Z", "2026-03-31T22:00Z"],
})  # fmt: skip

Fires = Mapping[str, list[datetime]]


def week(broker: str, begin: str, end: str, **switch: str) -> dict[str, Any]:
    """Run the project in a process of its own, since Django has one configuration per process."""
    require_module("django")
    environment = {name: value for name, value in os.environ.items() if name != "VALKEY_URL"} | {
        "PYTHONPATH": os.pathsep.join(map(str, [PROJECT, ROOT])), "DJANGO_SETTINGS_MODULE": "old_shop.settings",
        "BROKER_URL": broker, **switch,
    }  # fmt: skip
    command = [sys.executable, "-m", "tests.migrating.weeks", begin, end]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=200)
    assert done.returncode == 0, done.stdout + done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    found["fires"] = {name: [at(text) for text in instants] for name, instants in found["fires"].items()}
    return found


def without_identity(message: Any) -> Any:
    """A message without what names this one message, its sender and its fire.

    By ``celery_beat_task`` Celery 5.7 marks what comes from beat, and 5.5 does not.
    """
    own = {"id", "root_id", "origin", "correlation_id", "reply_to", "delivery_tag", "leased_beat", "celery_beat_task"}
    if isinstance(message, dict):
        return {name: without_identity(value) for name, value in message.items() if name not in own}
    return message


def sunsets(begin: datetime, end: datetime) -> list[datetime]:
    place = ephem.Observer()
    # As Celery has it, after the United States Naval Observatory.
    place.lat, place.lon, place.elevation, place.horizon, place.pressure = "47.5", "19.04", 0, "-0:34", 0
    found, place.date = [], begin
    while not found or found[-1] < end:
        place.date = place.next_setting(ephem.Sun())
        found.append(at(f"{place.date.datetime().isoformat()}+00:00"))
    return found[:-1]


def test_one_setting_changes_neither_what_fires_in_a_week_nor_what_is_sent(server_url: str) -> None:
    run = partial(week, server_url, "2026-06-01T10:17:31Z", "2026-06-08T10:17:40Z")
    plain, ours = run(), run(BEAT_SCHEDULER=SCHEDULER)
    assert (plain["scheduler"], ours["scheduler"]) == ("celery.beat", "celery_leased_beat.scheduler")

    assert len(ours["fires"]) == 10
    assert ours["fires"].keys() == plain["fires"].keys()
    for name, instants in ours["fires"].items():
        theirs = plain["fires"][name]
        assert len(instants) == len(theirs) > 0, name
        # Plain beat may wake a moment after the instant, and a sunset is no whole second.
        assert all(abs(their - our) < 2 * SECOND for their, our in zip(theirs, instants, strict=True)), name

    for name, message in ours["messages"].items():
        assert without_identity(message) == without_identity(plain["messages"][name]), name
        assert message["headers"]["leased_beat"]["entry"] == name
        assert message["headers"]["celery_beat_task"]


@pytest.mark.parametrize(("begin", "end", "written"), [CLOCKS_GO_BACK, CLOCKS_GO_FORWARD], ids=["back", "forward"])
def test_a_week_in_which_the_clocks_change_has_its_right_instants(
    server_url: str, begin: str, end: str, written: dict[str, list[str]]
) -> None:
    fires: Fires = week(server_url, begin, end, BEAT_SCHEDULER=SCHEDULER)["fires"]
    since, until = at(begin), at(end)
    expected = {name: brute.instants(spec, ZONE, since, until - SECOND) for name, spec in SPECS.items()}
    expected |= {
        name: [since + number * step for number in range(1, 200) if since + number * step < until]
        for name, step in GRIDS.items()
    }
    for name, texts in written.items():
        assert expected.setdefault(name, instants := [at(text) for text in texts]) == instants
    expected["sunset"] = fires["sunset"]
    assert fires == expected
    assert len(fires["sunset"]) == 7
    for ours, sunset in zip(fires["sunset"], sunsets(since, until), strict=True):
        assert timedelta(0) <= ours - sunset < 2 * SECOND


def test_the_repeated_hour_and_the_gap_are_in_those_weeks() -> None:
    """So that the two tests above cannot pass for want of what they are about."""
    for begin, _, _ in (CLOCKS_GO_BACK, CLOCKS_GO_FORWARD):
        (change,) = [
            change for change in brute.changes(ZONE, 2026) if timedelta(0) < change - at(begin) < 7 * 24 * HOUR
        ]
        night = brute.instants(SPECS["wrapping"], ZONE, change - 2 * HOUR, change + 2 * HOUR)
        assert len(night) == (22 if begin == CLOCKS_GO_BACK[0] else 0)
