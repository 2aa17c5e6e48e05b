"""What was handled, held against the schedule's own grid."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import pairwise

from celery_leased_beat.fires import fire_id
from tests.processes.sink import Row

#: The handlers of each kind of entry in the app under test.
LISTENERS = ("first", "second", "third")
JOB = "report"


@dataclass(frozen=True)
class Comparison:
    """``missing`` and ``doubled`` are (entry, instant, handler); ``strange`` are rows off the grid or of a wrong id."""

    handled: int
    missing: Sequence[tuple[str, datetime, str]]
    doubled: Sequence[tuple[str, datetime, str]]
    strange: Sequence[Row]

    @property
    def clean(self) -> bool:
        return not (self.missing or self.doubled or self.strange)

    def __str__(self) -> str:
        return "\n".join(
            [
                f"handled {self.handled}, missing {len(self.missing)}, doubled {len(self.doubled)}, "
                f"strange {len(self.strange)}",
                *(f"missing {entry} {instant.isoformat()} {handler}" for entry, instant, handler in self.missing[:20]),
                *(f"doubled {entry} {instant.isoformat()} {handler}" for entry, instant, handler in self.doubled[:20]),
                *(f"strange {row}" for row in self.strange[:20]),
            ]
        )


def compare(
    rows: Sequence[Row], entries: Iterable[str], *, namespace: str, interval: timedelta, until: datetime
) -> Comparison:
    """Compare ``rows`` with each entry's grid from its first handled instant to ``until``."""
    seen: dict[tuple[str, str], Counter[datetime]] = defaultdict(Counter)
    strange = []
    for row in rows:
        seen[row.entry, row.handler][row.due] += 1
        if row.id != fire_id(namespace, row.entry, row.due):
            strange.append(row)
    missing, doubled = [], []
    for entry in (*entries, JOB):
        handlers = (JOB,) if entry == JOB else LISTENERS
        begin = min((instant for handler in handlers for instant in seen[entry, handler]), default=None)
        if begin is None:
            missing += [(entry, until, handler) for handler in handlers]
            continue
        grid = list(_grid(begin, interval, until))
        for handler in handlers:
            counts = seen[entry, handler]
            missing += [(entry, instant, handler) for instant in grid if not counts[instant]]
            doubled += [(entry, instant, handler) for instant, count in counts.items() if count > 1]
        strange += [row for row in rows if row.entry == entry and (row.due - begin) % interval]
    return Comparison(sum(counts.total() for counts in seen.values()), missing, doubled, strange)


def longest_gap(rows: Iterable[Row], begin: float, end: float) -> float:
    """Return the longest time without a handled message between two times, in seconds."""
    times = [begin, *sorted(row.at for row in rows if begin <= row.at <= end), end]
    return max(later - earlier for earlier, later in pairwise(times))


def _grid(begin: datetime, interval: timedelta, until: datetime) -> Iterator[datetime]:
    while begin <= until:
        yield begin
        begin += interval
