"""The comparison that the other tests here trust."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from celery_leased_beat.fires import fire_id
from tests.processes.comparison import JOB, LISTENERS, Comparison, compare, longest_gap
from tests.processes.sink import Row

BEGIN = datetime(2026, 1, 1, tzinfo=UTC)
SECOND = timedelta(seconds=1)
UNTIL = BEGIN + 3 * SECOND


def row(handler: str, entry: str, instant: datetime) -> Row:
    return Row(handler, entry, fire_id("stage", entry, instant), instant.isoformat(), at=instant.timestamp(), pid=1)


ROWS = [
    row(handler, entry, BEGIN + number * SECOND)
    for number in range(4)
    for handler, entry in [*((listener, "tick") for listener in LISTENERS), (JOB, JOB)]
]


def compared(rows: list[Row]) -> Comparison:
    return compare(rows, ["tick"], namespace="stage", interval=SECOND, until=UNTIL)


def test_a_complete_grid_is_clean() -> None:
    assert compared(ROWS).clean


def test_a_row_that_lacks_is_missing_for_its_handler_alone() -> None:
    gone = row("second", "tick", BEGIN + SECOND)
    assert compared([row for row in ROWS if row != gone]).missing == [("tick", gone.due, "second")]


def test_an_entry_that_was_never_handled_is_missing() -> None:
    missing = compared([row for row in ROWS if row.entry != JOB]).missing
    assert missing == [(JOB, UNTIL, JOB)]


def test_a_second_row_of_one_handler_is_doubled() -> None:
    again = row("third", "tick", BEGIN)
    assert compared([*ROWS, again]).doubled == [("tick", BEGIN, "third")]


def test_a_row_off_the_grid_or_of_another_id_is_strange() -> None:
    off_grid = row("first", "tick", BEGIN + SECOND / 2)
    renamed = replace(row("first", "tick", UNTIL + SECOND), id="another")
    assert compared([*ROWS, off_grid, renamed]).strange == [renamed, off_grid]


def test_the_longest_gap_counts_its_ends() -> None:
    begin = BEGIN.timestamp()
    assert longest_gap(ROWS, begin - 5, begin + 3) == 5
    assert longest_gap(ROWS, begin, begin + 4) == 1
