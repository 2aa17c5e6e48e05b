"""Instants as ISO text, and the walk over a timing that tests compare with."""

from datetime import UTC, datetime, timedelta

from celery_leased_beat.timing import Timing


def at(text: str) -> datetime:
    """The instant that ISO text with an offset names, in UTC."""
    return datetime.fromisoformat(text).astimezone(UTC)


def walk(timing: Timing, after: datetime, until: datetime) -> list[datetime]:
    """The instants of (after, until], each asked from the one before."""
    found = []
    instant = timing.next_after(after)
    while instant is not None and instant <= until:
        found.append(instant)
        instant = timing.next_after(instant)
    return found


def first(timing: Timing, after: str, number: int) -> list[datetime]:
    """The first instants after that of ``after``."""
    found = [at(after)]
    for _ in range(number):
        instant = timing.next_after(found[-1])
        assert instant is not None
        found.append(instant)
    return found[1:]


def days(number: float) -> timedelta:
    """A timedelta of so many days."""
    return timedelta(days=number)
