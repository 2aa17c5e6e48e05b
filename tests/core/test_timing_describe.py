"""Timings in plain English."""

import doctest
import re
from datetime import timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from celery_leased_beat.timing import Cron, described, every


@pytest.mark.parametrize(
    ("spec", "english"),
    [
        ("* 0 * * *", "60 runs a day at 00:00-00:59, one in every minute, every day"),
        ("* * * * *", "1440 runs a day at 00:00-23:59, one in every minute, every day"),
        ("* 8-10,20 * * *", "240 runs a day at 08:00-10:59 and 20:00-20:59, one in every minute, every day"),
        ("30 4 1,15 * 5", "once a day at 04:30, on days 1 and 15 of the month or on Friday (either one is enough)"),
        ("0 3 * * mon-fri", "once a day at 03:00, on Monday-Friday"),
        ("0 3 * * 0", "once a day at 03:00, on Sunday"),
        ("0 0,12 1-7 jan,mar *", "2 runs a day at 00:00 and 12:00, on days 1-7 of the month, in January and March"),
        ("0 9-17 * * *", "9 runs a day at minute 0 of hours 9-17, every day"),
        ("*/15 * * * *", "96 runs a day at minutes 0, 15, 30 and 45 of every hour, every day"),
        ("0 0 29 2 *", "once a day at 00:00, on day 29 of the month, in February"),
    ],
)
def test_a_cron_spec_is_described(spec: str, english: str) -> None:
    assert Cron(spec).describe() == english
    assert Cron(spec, ZoneInfo("Asia/Tokyo")).describe() == f"{english}, Asia/Tokyo time"


def test_an_interval_is_described() -> None:
    assert every("90m").describe() == "every 1h30m"
    assert every(timedelta(milliseconds=1500)).describe() == "every 1.5s"


def test_a_timing_without_words_of_its_own_is_told_by_its_key() -> None:
    class Wordless:
        key = "moon full"

    assert described(Wordless()) == "moon full"  # type: ignore[arg-type]
    assert described(every("90m")) == "every 1h30m"


def test_the_docs_say_the_same() -> None:
    docs = (Path(__file__).parents[2] / "docs" / "schedule.md").read_text()
    (block,) = re.findall(r"```pycon\n(.*?)```", docs, re.DOTALL)
    examples = doctest.DocTestParser().get_doctest(block, {}, "docs/schedule.md", None, None)
    assert doctest.DocTestRunner().run(examples) == (0, 5)
