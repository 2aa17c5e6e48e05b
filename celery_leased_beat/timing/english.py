"""A cron spec in plain English."""

from calendar import day_name, month_name
from collections.abc import Callable, Iterable, Sequence

from celery_leased_beat.timing.spec import Field, Fields

#: Up to so many times of the day are written out.
_FEW = 6


def describe(fields: Fields, *, both_days: bool = False) -> str:
    """Return when the spec runs: how often a day, at which times and on which days."""
    days = _days(fields.day, fields.weekday, both_days=both_days)
    return f"{_times(fields.minute, fields.hour)}, {days}{_months(fields.month)}"


def _times(minute: Field, hour: Field) -> str:
    number = len(minute.values) * len(hour.values)
    if number == 1:
        return f"once a day at {_clock(hour.values[0], minute.values[0])}"
    return f"{number} runs a day at {_times_of_day(minute, hour, number)}"


def _times_of_day(minute: Field, hour: Field, number: int) -> str:
    if minute.full:
        spans = _join(f"{_clock(low, 0)}-{_clock(high, 59)}" for low, high in runs(hour.values))
        return f"{spans}, one in every minute"
    if number <= _FEW:
        return _join(_clock(at, past) for at in hour.values for past in minute.values)
    minutes = _plural("minute", minute.values)
    return f"{minutes} of {'every hour' if hour.full else _plural('hour', hour.values)}"


def _days(day: Field, weekday: Field, *, both_days: bool) -> str:
    dates = f"{_plural('day', day.values)} of the month"
    weekdays = _join(_spans(weekday.values, lambda number: day_name[(number - 1) % 7]))
    if day.full and weekday.full:
        return "every day"
    if weekday.full:
        return f"on {dates}"
    if day.full:
        return f"on {weekdays}"
    if both_days:
        return f"on {dates} if on {weekdays} (both are wanted)"
    return f"on {dates} or on {weekdays} (either one is enough)"


def _months(month: Field) -> str:
    return "" if month.full else f", in {_join(_spans(month.values, lambda number: month_name[number]))}"


def _clock(hour: int, minute: int) -> str:
    return f"{hour:02}:{minute:02}"


def _plural(noun: str, values: Sequence[int]) -> str:
    return f"{noun}{'s' if len(values) > 1 else ''} {_join(_spans(values, str))}"


def _spans(values: Sequence[int], name: Callable[[int], str]) -> Iterable[str]:
    """Name each value, and three or more in a row as a span."""
    for low, high in runs(values):
        if high - low >= 2:
            yield f"{name(low)}-{name(high)}"
        else:
            yield from (name(value) for value in range(low, high + 1))


def runs(values: Sequence[int]) -> list[tuple[int, int]]:
    """Return the first and the last of each run of consecutive values."""
    runs: list[tuple[int, int]] = []
    for value in values:
        if runs and runs[-1][1] == value - 1:
            runs[-1] = (runs[-1][0], value)
        else:
            runs.append((value, value))
    return runs


def _join(items: Iterable[str]) -> str:
    *most, last = items
    return f"{', '.join(most)} and {last}" if most else last
