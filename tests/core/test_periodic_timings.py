"""The schedules of Celery as timings of ours: the instants of plain beat, and better ones when the clocks change."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from celery import Celery
from celery.schedules import BaseSchedule, crontab, schedstate, schedule, solar

from celery_leased_beat.binding.timings import to_timing
from celery_leased_beat.errors import SpecError
from celery_leased_beat.timing import Aligned, AskAgain, Cron, Every, Timing
from tests.core.plain_beat import PlainBeat
from tests.core.walk import at, days

BUDAPEST = ZoneInfo("Europe/Budapest")
MINUTE, HOUR = timedelta(minutes=1), timedelta(hours=1)


class OfficeHours(schedule):
    """An interval that rests at night."""

    def is_due(self, last_run_at: datetime) -> Any:
        if not 9 <= self.now().hour < 17:
            return schedstate(False, 600)
        return super().is_due(last_run_at)


MIXED: dict[str, Callable[[], Any]] = {
    "a crontab of steps": lambda: crontab(minute="*/15"),
    "a crontab in numbers": lambda: crontab(minute=30, hour=2),
    "a crontab of ranges and names": lambda: crontab(minute=0, hour="9-17", day_of_week="mon-fri"),
    "a crontab of both days": lambda: crontab(0, [6, 18], day_of_month="1-7,15-21", day_of_week="tue,thu"),
    "a crontab whose minutes wrap": lambda: crontab(minute="55-5", hour="22"),
    "a timedelta": lambda: HOUR,
    "a number": lambda: 5400.5,
    "relative hours": lambda: schedule(2 * HOUR, relative=True),
    "relative days": lambda: schedule(days(2), relative=True),
    "solar": lambda: solar("sunset", 47.5, 19),
    "one that people wrote": lambda: OfficeHours(1200),
}


def app_in(zone: str | None, **settings: Any) -> Celery:
    app = Celery("plain", broker="memory://", set_as_current=False)
    app.conf.update(timezone=zone, result_expires=None, **settings)
    return app


def timing_of(written: Any, app: Celery | None = None, **options: Any) -> Timing:
    return to_timing(written, app or app_in("Europe/Budapest"), **options)


def instants(timing: Timing, after: datetime, until: datetime) -> list[datetime]:
    """The instants of (after, until], asked for as the engine asks: now and then, and never beyond the time it is."""
    timing, found, now = timing.anchored(after), [after], after
    while now < until:
        now = min(now + HOUR, until)
        for _ in range(timing.count(found[-1], now)):
            instant = timing.next_after(found[-1])
            assert instant is not None
            found.append(instant)
    return found[1:]


def sent_by_plain_beat(written: Any, begin: datetime, end: datetime) -> list[datetime]:
    app = app_in("Europe/Budapest")
    app.conf.beat_schedule = {"entry": {"task": "task", "schedule": written}}
    return PlainBeat(app, begin).run(end)["entry"]


@pytest.mark.parametrize("written", MIXED.values(), ids=MIXED.keys())
def test_a_week_without_a_change_of_the_clocks_is_that_of_plain_beat(written: Callable[[], Any]) -> None:
    begin, end = at("2026-06-01T10:17:31Z"), at("2026-06-08T10:17:40Z")
    ours, theirs = instants(timing_of(written()), begin, end), sent_by_plain_beat(written(), begin, end)
    assert len(ours) == len(theirs) > 0
    # Plain beat wakes a little early and loses a little each time; and Celery 5.5 asks more often than it is told to.
    apart = 10 * MINUTE if isinstance(written(), OfficeHours) else timedelta(seconds=2)
    assert all(abs(their - our) < apart for our, their in zip(ours, theirs, strict=True))


CLOCKS_GO_BACK = at("2026-10-22T00:00Z"), at("2026-10-29T00:00Z")
CLOCKS_GO_FORWARD = at("2026-03-26T00:00Z"), at("2026-04-02T00:00Z")


@pytest.mark.parametrize(("begin", "end"), [CLOCKS_GO_BACK, CLOCKS_GO_FORWARD])
def test_a_crontab_goes_by_our_rule_when_the_clocks_change(begin: datetime, end: datetime) -> None:
    table = {"*/15 *": crontab(minute="*/15"), "30 2": crontab(30, 2), "0 1-3": crontab(0, "1-3"),
             "0 1,2,3": crontab(0, [1, 2, 3])}  # fmt: skip
    for times, written in table.items():
        assert instants(timing_of(written), begin, end) == instants(Cron(f"{times} * * *", BUDAPEST), begin, end)


@pytest.mark.parametrize(("begin", "end"), [CLOCKS_GO_BACK, CLOCKS_GO_FORWARD])
def test_a_crontab_loses_and_repeats_nothing_when_the_clocks_change(begin: datetime, end: datetime) -> None:
    quarters = instants(timing_of(crontab(minute="*/15")), begin, end)
    assert quarters == [begin + number * 15 * MINUTE for number in range(1, len(quarters) + 1)]
    nightly = [instant.astimezone(BUDAPEST) for instant in instants(timing_of(crontab(30, 2)), begin, end)]
    assert sorted({night.date() for night in nightly}) == [night.date() for night in nightly]
    assert len(nightly) == 7


# fmt: off
CRONTABS = {
    "every minute": (crontab(), "* * * * *"),
    "names": (crontab(0, 3, day_of_week="mon-fri", month_of_year="january,feb"), "0 3 * 1,2 1,2,3,4,5"),
    "lists": (crontab([0, 30], {6, 18}), "0,30 6,18 * * *"),
    "a range of Python": (crontab(0, range(8, 11)), "0 8,9,10 * * *"),
    "something to be read once": (crontab(0, iter([4, 2])), "0 2,4 * * *"),
    "text with spaces": (crontab("0, 30", " 6"), "0,30 6 * * *"),
    "steps and ranges": (crontab("*/15,7", "8-17/3"), "*/15,7 8-17/3 * * *"),
    "a range that wraps": (crontab("58-1", 3), "0-1,58-59 3 * * *"),
    "a range that is whole": (crontab("0-59", "0-23"), "0-59 0-23 * * *"),
    "weekdays that wrap": (crontab(0, 0, day_of_week="fri-sun"), "0 0 * * 0,5,6"),
    "as a cron has its fields": (crontab.from_string("5 4 3 2 1"), "5 4 3 2 1"),
}
# fmt: on


@pytest.mark.parametrize(("written", "spec"), CRONTABS.values(), ids=CRONTABS.keys())
def test_a_crontab_is_read_as_it_was_written(written: crontab, spec: str) -> None:
    assert timing_of(written) == Cron(spec, BUDAPEST, both_days=True)


def test_intervals_are_grids_from_when_they_are_first_seen() -> None:
    assert timing_of(30) == timing_of(timedelta(seconds=30)) == timing_of(schedule(30)) == Every(timedelta(seconds=30))
    assert timing_of(1 / 3) == Every(timedelta(milliseconds=333))


def test_relative_intervals_are_cut_to_their_unit() -> None:
    assert timing_of(2 * HOUR, relative=True) == timing_of(schedule(7200, relative=True)) == Aligned(2 * HOUR, BUDAPEST)
    assert timing_of(days(1.5), relative=True) == Cron("0 0 * * *", BUDAPEST)
    assert timing_of(0.5, relative=True) == Every(timedelta(milliseconds=500))


@pytest.mark.parametrize("written", [None, "* * * * *", object(), 0, -1, 0.0001, schedule(None), datetime(2026, 1, 1)])
def test_what_is_no_schedule_is_refused(written: Any) -> None:
    with pytest.raises(SpecError):
        timing_of(written)


class TestZones:
    """A crontab is in the zone in which Celery would have it."""

    def test_the_apps(self) -> None:
        assert timing_of(crontab(0, 3), app_in("Asia/Shanghai")).key == "cron 0 3 * * * Asia/Shanghai"
        assert timing_of(crontab(0, 3), app_in(None)).key == "cron 0 3 * * * UTC"
        assert timing_of(crontab(0, 3), app_in("Asia/Shanghai", enable_utc=False)).key == "cron 0 3 * * * Asia/Shanghai"

    @pytest.mark.parametrize("zone", ["Asia/Tokyo", "America/New_York", "Africa/Casablanca", "UTC"])
    def test_the_hosts_where_the_app_has_none_and_no_utc(self, zone: str, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("TZ", zone)
        app = app_in(None, enable_utc=False)
        from celery.utils.time import LocalTimezone

        app.timezone = LocalTimezone()  # as Celery 5.5 has it
        assert timing_of(crontab(0, 3), app).key == f"cron 0 3 * * * {zone}"

    def test_one_of_its_own(self) -> None:
        written = crontab(0, 3)
        written.tz = ZoneInfo("Asia/Tokyo")
        assert timing_of(written).key == "cron 0 3 * * * Asia/Tokyo"

    def test_that_of_its_clock_where_celery_goes_by_it(self) -> None:
        written = crontab(0, 3, nowfun=lambda: datetime.now(ZoneInfo("Asia/Tokyo")))
        app = app_in("Europe/Budapest")
        written.app = app
        frame = written.remaining_delta(written.now())[0].tzinfo
        assert timing_of(written, app).key == f"cron 0 3 * * * {frame}"

    def test_one_without_a_name_is_an_error_that_says_what_to_set(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("TZ", "CET-1CEST,M3.5.0,M10.5.0/3")
        from dateutil import tz

        app = app_in(None)
        app.timezone = tz.tzstr("CET-1CEST,M3.5.0,M10.5.0/3")
        with pytest.raises(SpecError, match="`timezone`"):
            timing_of(crontab(0, 3), app)


class Asked(BaseSchedule):
    """Due at the times it is given, or as it is told."""

    def __init__(self, *answers: Any) -> None:
        super().__init__()
        self.answers = answers
        self.asked: list[datetime] = []

    def __repr__(self) -> str:
        return f"Asked{self.answers!r}"

    def is_due(self, last_run_at: datetime) -> Any:
        self.asked.append(self.now())
        (answer,) = self.answers
        return answer(self.now()) if callable(answer) else answer


class TestASchedulethatIsAsked:
    BEGIN = at("2026-06-01T10:00Z")

    def test_its_clock_is_put_to_the_time_that_is_meant_and_then_its_own_again(self) -> None:
        written = Asked((False, 3600))
        timing = timing_of(written)
        assert timing.count(self.BEGIN, self.BEGIN + 3 * HOUR) == 0
        assert written.asked == [self.BEGIN + number * HOUR for number in range(4)]
        assert written.nowfun is None

    def test_it_is_asked_for_the_next_time_only_as_far_ahead_as_it_says(self) -> None:
        written = Asked((False, 90))
        timing = timing_of(written)
        timing.count(self.BEGIN, self.BEGIN + MINUTE)
        with pytest.raises(AskAgain) as raised:
            timing.next_after(self.BEGIN)
        assert raised.value.at == self.BEGIN + timedelta(seconds=90)
        assert written.asked[-1] == raised.value.at

    def test_what_was_asked_is_not_asked_again(self) -> None:
        written = Asked((False, 60))
        timing = timing_of(written)
        for minutes in range(5):
            timing.count(self.BEGIN, self.BEGIN + minutes * MINUTE)
        assert len(written.asked) == 5

    @pytest.mark.parametrize("wait", [0, -5, 1e-9])
    def test_one_that_is_always_due_is_due_once_a_second(self, wait: float) -> None:
        found = instants(timing_of(Asked((True, wait))), self.BEGIN, self.BEGIN + timedelta(seconds=5))
        assert found == [self.BEGIN + timedelta(seconds=number) for number in range(1, 6)]

    @pytest.mark.parametrize("wait", [None, float("inf"), 10**12, "later"])
    def test_one_that_does_not_say_when_is_asked_again_later(self, wait: Any) -> None:
        with pytest.raises(AskAgain) as raised:
            timing_of(Asked((False, wait))).next_after(self.BEGIN)
        assert self.BEGIN + 5 * MINUTE <= raised.value.at <= self.BEGIN + days(366)

    def test_a_long_time_is_not_asked_through(self) -> None:
        written = Asked((True, 1))
        timing = timing_of(written)
        until = self.BEGIN + days(30)
        assert timing.count(self.BEGIN, until) == 100
        assert written.asked[-1] == until

    def test_one_that_raises_does_so_when_it_is_asked(self) -> None:
        timing = timing_of(Asked(lambda now: 1 / 0))
        with pytest.raises(ZeroDivisionError):
            timing.next_after(self.BEGIN)

    def test_its_key_is_the_same_in_every_process(self, caplog: pytest.LogCaptureFixture) -> None:
        assert timing_of(Asked((True, 5))).key == f"asked {__name__}.Asked Asked((True, 5),)"
        assert caplog.messages == []

    def test_one_without_a_text_of_its_own_is_warned_of(self, caplog: pytest.LogCaptureFixture) -> None:
        class Nameless(Asked):
            __repr__ = object.__repr__

        assert " at 0x" not in timing_of(Nameless((True, 5))).key
        assert [record.levelname for record in caplog.records] == ["WARNING"]
        assert "Nameless" in caplog.messages[0]

    def test_one_that_only_adds_a_zone_to_a_crontab_goes_by_our_rule(self) -> None:
        zoned = type("TzAwareCrontab", (crontab,), {
            "__module__": "django_celery_beat.tzcrontab", "__qualname__": "TzAwareCrontab",
            "is_due": lambda self, last: crontab.is_due(self, last.astimezone(self.tz)),
        })  # fmt: skip
        written = zoned(0, 3)
        written.tz = ZoneInfo("Asia/Tokyo")
        assert timing_of(written).key == "cron 0 3 * * * Asia/Tokyo"


def test_a_crontab_that_decides_for_itself_is_asked() -> None:
    class Weekdays(crontab):
        def is_due(self, last_run_at: datetime) -> Any:
            due, wait = super().is_due(last_run_at)
            return due and self.now().isoweekday() <= 5, wait

    begin, end = at("2026-06-01T00:00Z"), at("2026-06-15T00:00Z")
    found = [instant.astimezone(UTC) for instant in instants(timing_of(Weekdays(0, 12)), begin, end)]
    assert len(found) == 10
    assert {instant.hour for instant in found} == {10}
