"""What the rest of the package asks of a timing."""

from datetime import datetime, tzinfo
from typing import Protocol, runtime_checkable


class AskAgain(Exception):
    """A timing cannot tell yet when it is next: ask it again at ``at``. It is no error, and nothing to log."""

    def __init__(self, at: datetime) -> None:
        super().__init__(f"not known before {at.isoformat()}")
        self.at = at


@runtime_checkable
class Timing(Protocol):
    """When an entry is due. Datetimes are aware; what is returned is UTC and exact to the millisecond.

    The laws: ``next_after(t) > t`` for every t, and the instants of (a, b] and those of (b, c] are those of (a, c].
    """

    @property
    def key(self) -> str:
        """What makes two timings the same: the spec in its normal form with the zone, without the anchor."""

    def next_after(self, instant: datetime) -> datetime | None:
        """Return the first instant later than ``instant``, None where there is none any more.

        May raise ``AskAgain``, but not where ``count`` says that there is one.
        """

    def count(self, after: datetime, until: datetime) -> int:
        """Return how many instants lie in (after, until]. It is arithmetic: its cost hardly grows with the number."""

    def resolved(self, zone: tzinfo) -> "Timing":
        """Return the timing in ``zone``, unless it has a zone of its own or needs none."""

    def anchored(self, anchor: datetime) -> "Timing":
        """Return the timing with its grid laid from ``anchor``, where it is a grid."""


def has_memory(timing: Timing) -> bool:
    """Whether ``timing`` may go by more than the time, such as its last instant: nobody can tell later what it said."""
    return bool(getattr(timing, "has_memory", False))


def described(timing: Timing) -> str:
    """Return when ``timing`` is due in English; one that has no ``describe()`` of its own, by its key."""
    describe = getattr(timing, "describe", None)
    return str(describe()) if callable(describe) else timing.key
