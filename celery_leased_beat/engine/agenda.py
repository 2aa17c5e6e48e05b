"""Which entries are due, and when the next one is.

A turn costs time for what is due, never for all entries: they wait in a heap, ordered by when they are to be looked at.
"""

import heapq
import logging
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from celery_leased_beat.engine.protocols import EntryKey, Position
from celery_leased_beat.plan import Policy
from celery_leased_beat.schedule import Entry
from celery_leased_beat.timing import AskAgain, Timing

logger = logging.getLogger(__name__)

#: Instants that an entry still has to catch up are spread: so long after a burst comes the next one.
SPREAD = timedelta(seconds=1)
#: The wait after an instant that the server calls early.
EARLY_PAUSE = timedelta(milliseconds=20)
#: An entry whose timing raises is left alone for so long; it warns once each time.
PENALTY = timedelta(minutes=1)


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

    def put_back(self, item: Item, now: datetime, *, early: bool = False) -> None:
        """Put an entry back, to be looked at when its next instant is due; one without any is left out for good.

        ``early`` says that the server called an instant of it early.
        """
        try:
            due = item.timing.next_after(item.position.watermark)
            if due is not None and due <= now:
                due = now + (EARLY_PAUSE if early else SPREAD)
        except AskAgain as later:
            due = max(later.at, now + SPREAD)
        except Exception:
            self.set_aside(item, now)
            return
        if due is not None:
            self._put(item, due)

    def set_aside(self, item: Item, now: datetime) -> None:
        """Put an entry back that cannot be planned, so that the others go on. Called where its error is handled."""
        logger.exception("the entry %s cannot be planned, it is tried again in a minute", item.entry.name)
        self._put(item, now + PENALTY)

    def _put(self, item: Item, when: datetime) -> None:
        self._order += 1
        heapq.heappush(self._heap, (when, self._order, item))
