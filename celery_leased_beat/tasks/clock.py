"""The time of this host, where no fire says what time it is."""

from datetime import UTC, datetime

from celery_leased_beat.fires import from_milliseconds, to_milliseconds


def now() -> datetime:
    """Return the time of this host, in whole milliseconds as an instant is."""
    return from_milliseconds(to_milliseconds(datetime.now(UTC)))
