"""Which entries are due, and when the next one is.

A turn costs time for what is due, never for all entries: they wait in a heap, ordered by when they are to be looked at.
"""

import heapq
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime

from celery_leased_beat.engine.protocols import EntryKey, Position
from celery_leased_beat.plan import Policy
from celery_leased_beat.schedule import Entry
from celery_leased_beat.timing import Timing


@dataclass(slots=True)
class Item:
    """One entry as the engine serves it: its anchored timing, and where it stands."""

    entry: Entry
    key: EntryKey
    timing: Timing
    position: Position

    @property
    def policy(self) -> Policy:
        return self.entry.policy

    def decided(self, instant: datetime) -> None:
        """Move the watermark on to ``instant``; it never goes back."""
        self.position = self.position._replace(watermark=max(self.position.watermark, instant))


class Agenda:
    """The entries of one term, ordered by the instant at which each is to be looked at."""

    def __init__(self, entries: Mapping[EntryKey, Entry], positions: Mapping[EntryKey, Position]) -> None:
        self._heap: list[tuple[datetime, int, Item]] = []
        for order, (key, entry) in enumerate(entries.items()):
            position = positions[key]
            item = Item(entry, key, entry.timing.anchored(position.anchor), position)
            self._heap.append((position.watermark, order, item))
        heapq.heapify(self._heap)
        self._order = len(self._heap)

    @property
    def next(self) -> datetime | None:
        """When the next entry is to be looked at; None where no entry has an instant ahead."""
        return self._heap[0][0] if self._heap else None

    def take_due(self, now: datetime) -> Iterator[Item]:
        """Take out the entries that are to be looked at by ``now``, the longest waiting first."""
        while self._heap and self._heap[0][0] <= now:
            yield heapq.heappop(self._heap)[2]

    def put(self, item: Item, when: datetime | None) -> None:
        """Put an entry back, to be looked at at ``when``; None leaves it out for good."""
        if when is not None:
            self._order += 1
            heapq.heappush(self._heap, (when, self._order, item))
