"""How long a lease lives without a renewal, and a task's marker after its last use."""

import re
from datetime import timedelta

import durationpy

from celery_leased_beat.errors import SpecError
from celery_leased_beat.settings.sources import Found
from celery_leased_beat.timing import to_duration

#: Two renewals may fail before the lease ends, and where a holder goes silent nothing fires for no longer than that.
LEASE_TTL = timedelta(seconds=15)
#: Below a second the network's own delays would end the lease (and an expiry of 0 deletes it at once); above an hour
#: nobody would take over a schedule in time.
SHORTEST_LEASE_TTL, LONGEST_LEASE_TTL = timedelta(seconds=1), timedelta(hours=1)

#: Several times the visibility timeout, for messages that are redelivered more than once; each hour of it costs memory.
MARKER_TTL = timedelta(hours=6)
#: A marker must outlive every redelivery: an hour is the visibility timeout of a Redis-like broker by default. Over a
#: year is a mistake in the unit.
SHORTEST_MARKER_TTL, LONGEST_MARKER_TTL = timedelta(hours=1), timedelta(days=365)

_NUMBER = re.compile(r"[-+]?[0-9]*\.?[0-9]*")


def lease_ttl(found: Found | None) -> timedelta:
    """Return what is set, else the default. Raises ``SettingsError``."""
    if found is None:
        return LEASE_TTL
    return _within(found, SHORTEST_LEASE_TTL, LONGEST_LEASE_TTL)


def marker_ttl(found: Found | None, visibility_timeout: timedelta) -> timedelta:
    """Return what is set, else the default, or more where the broker waits for longer. Raises ``SettingsError``."""
    shortest = max(SHORTEST_MARKER_TTL, visibility_timeout)
    if found is None:
        return max(MARKER_TTL, shortest + SHORTEST_MARKER_TTL)
    return _within(found, shortest, LONGEST_MARKER_TTL)


def _within(found: Found, shortest: timedelta, longest: timedelta) -> timedelta:
    allowed = f"from {durationpy.to_str(shortest)} to {durationpy.to_str(longest)} is allowed"
    duration = _duration(found.value)
    if duration is None:
        raise found.error(f'seconds, a timedelta or a duration such as "1m30s" are wanted; {allowed}')
    if not shortest <= duration <= longest:
        raise found.error(allowed)
    return duration


def _duration(value: object) -> timedelta | None:
    """Return what ``value`` says: a timedelta, seconds (a number, or one in text), or a Go duration."""
    text = value.strip() if isinstance(value, str) else value
    try:
        if isinstance(text, timedelta) or (isinstance(text, str) and not _NUMBER.fullmatch(text)):
            return to_duration(text)
        return timedelta(seconds=float(text)) if isinstance(text, str | int | float) and text is not True else None
    except (SpecError, ValueError, OverflowError):
        return None
