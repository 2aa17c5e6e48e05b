"""What a law of cost is stated on: a count, which a busy machine does not move."""

from datetime import datetime, tzinfo

from celery_leased_beat.timing import Timing


class Counting:
    """A timing that counts how often it is asked for an instant or for their number."""

    def __init__(self, timing: Timing) -> None:
        self.asked = 0
        self._timing = timing

    @property
    def key(self) -> str:
        return self._timing.key

    def next_after(self, instant: datetime) -> datetime | None:
        self.asked += 1
        return self._timing.next_after(instant)

    def count(self, after: datetime, until: datetime) -> int:
        self.asked += 1
        return self._timing.count(after, until)

    def resolved(self, zone: tzinfo) -> "Counting":
        return self

    def anchored(self, anchor: datetime) -> "Counting":
        return self
