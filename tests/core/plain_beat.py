"""Plain beat, as Celery has it, with a clock of our own: what it sends, and when."""

from collections import defaultdict
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from celery import Celery, beat

#: How long one turn of its loop takes.
TURN = timedelta(milliseconds=1)


class PlainBeat(beat.Scheduler):
    """Sends nothing, and notes the time."""

    def __init__(self, app: Celery, begin: datetime) -> None:
        self.time = begin
        app.now = lambda: self.time.astimezone(app.timezone)
        self.sent: dict[str, list[datetime]] = defaultdict(list)
        super().__init__(app)

    def apply_async(self, entry: beat.ScheduleEntry, *_: Any, **__: Any) -> None:
        self.sent[entry.name].append(self.time.astimezone(UTC))

    def run(self, until: datetime) -> Mapping[str, list[datetime]]:
        """Let it run up to ``until``."""
        while self.time < until:
            self.time += max(timedelta(seconds=self.tick()), TURN)
        return {name: [time for time in times if time <= until] for name, times in self.sent.items()}
