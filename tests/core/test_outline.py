"""The digest of a schedule: the same for the same entries, another for whatever differs."""

import json
from dataclasses import dataclass
from datetime import UTC, timedelta
from typing import Any

import pytest

from celery_leased_beat import event
from celery_leased_beat.binding.outline import LARGEST, MOST_NAMES, Outline
from celery_leased_beat.schedule import ScheduleBuilder


@event("shop.due")
@dataclass(frozen=True)
class Due:
    to: str = "all"


def outline(*entries: tuple[str, str], **options: Any) -> Outline:
    schedule = ScheduleBuilder()
    for name, spec in entries:
        schedule.job(name, spec, print, **options)
    return Outline.of(entry.resolved(UTC) for entry in schedule.entries.values())


ONE = ("a", "0 3 * * *")
TWO = ("b", "@every 5m")


def test_the_order_of_the_entries_makes_no_difference() -> None:
    assert outline(ONE, TWO).digest == outline(TWO, ONE).digest


def test_the_digest_stays_what_it_was_so_that_two_processes_agree() -> None:
    assert outline(ONE, TWO).digest == "2322c78fc664"


@pytest.mark.parametrize(
    "other",
    [
        outline(ONE), outline(ONE, TWO, ("c", "@daily")), outline(ONE, ("b", "@every 6m")), outline(ONE, ("c", TWO[1])),
        outline(ONE, TWO, queue="reports"), outline(ONE, TWO, catch_up="all"), outline(ONE, TWO, grace=timedelta(1)),
        outline(ONE, TWO, timezone="Europe/Budapest"),
    ],
    ids=["fewer", "more", "retimed", "renamed", "queue", "catch-up", "grace", "zone"],
)  # fmt: skip
def test_whatever_differs_gives_another_digest(other: Outline) -> None:
    assert other.digest != outline(ONE, TWO).digest


def test_what_an_event_says_counts() -> None:
    first, second = ScheduleBuilder().daily(Due("vip")), ScheduleBuilder().daily(Due("all"))
    one, other = Outline.of(first.entries.values()), Outline.of(second.entries.values())
    assert one.digest != other.digest
    assert one.compare(other) == "with other contents: 'shop.due'"


def test_a_difference_is_told_by_names() -> None:
    mine = outline(ONE, TWO, ("new", "@daily"))
    theirs = outline(ONE, ("b", "@every 6m"), ("old", "@daily"))
    assert mine.compare(theirs) == "only here: 'new'; only there: 'old'; with another timing: 'b'"
    assert Outline.parse(theirs.text) == theirs


def test_many_names_are_cut_short() -> None:
    many = outline(*((f"job-{number:02}", "@daily") for number in range(MOST_NAMES + 5)))
    assert many.compare(outline(ONE)).endswith("'job-09' and 5 more; only there: 'a'")


def test_the_outline_of_a_large_schedule_is_not_kept() -> None:
    few = Outline({str(number): outline(ONE).lines["a"] for number in range(LARGEST)})
    many = Outline({**few.lines, "one more": outline(ONE).lines["a"]})
    assert len(json.loads(few.text)) == LARGEST
    assert many.text == ""


@pytest.mark.parametrize("text", ["", "7", "[1]", '{"a": 1}', '{"a": ["x"]}'])
def test_what_is_no_outline_is_refused(text: str) -> None:
    with pytest.raises((ValueError, TypeError)):
        Outline.parse(text)
