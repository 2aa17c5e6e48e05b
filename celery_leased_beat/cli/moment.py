"""A point in time on the command line: how long ago, or when."""

from datetime import UTC, datetime, timedelta

import click

from celery_leased_beat.errors import SpecError
from celery_leased_beat.timing import to_duration, to_utc

#: A duration counts back from now.
Moment = timedelta | datetime

EPOCH = datetime.fromtimestamp(0, UTC)


def read_moment(context: click.Context, parameter: click.Parameter, text: str) -> Moment:
    """Read a duration such as ``1h30m``, or an ISO instant with its offset: nobody can tell whose a naive one is."""
    try:
        return to_duration(text)
    except SpecError:
        pass
    try:
        return to_utc(datetime.fromisoformat(text))
    except (ValueError, OverflowError):
        raise click.BadParameter(
            f"{text!r} is neither a duration such as 1h30m nor an instant with its offset, such as 2026-07-01T06:30Z or"
            " 2026-07-01T08:30+02:00"
        ) from None


def to_instant(moment: Moment, now: datetime) -> datetime:
    """Return the instant that ``moment`` means at ``now``; none is before 1970, where the server's time begins."""
    if isinstance(moment, timedelta):
        return now - min(moment, now - EPOCH)
    return max(moment, EPOCH)
