"""The books of one run: the schedule as it is written, the ledger, and the journal of what was done."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from celery_leased_beat.engine import EntryKey, Position
from celery_leased_beat.events import Listeners
from celery_leased_beat.plan import Outcome
from celery_leased_beat.schedule import Entry, EventTarget
from celery_leased_beat.store import LedgerReader, Snapshot
from celery_leased_beat.timing import Cron, Every, Timing
from examples.shop.demo.stage import Row
from examples.shop.demo.tally import Expectation, Passed, Tally, tally
from examples.shop.journal import Journal

EPOCH = datetime.fromtimestamp(0, UTC)

_DECIDED_AGAINST = (Outcome.COALESCED, Outcome.SKIPPED)


class Books:
    """Knows what should have been done, and what was."""

    def __init__(
        self, entries: Sequence[Entry], listeners: Listeners, namespace: str, ledger: LedgerReader, journal: Journal
    ) -> None:
        self._entries = {EntryKey(entry.name, entry.timing.key): entry for entry in entries}
        self._listeners = listeners
        self._namespace = namespace
        self._ledger = ledger
        self._journal = journal

    def now(self) -> datetime:
        """Return the time of the ledger's clock."""
        return self._ledger.now()

    def tally(self, until: datetime) -> Tally:
        """Count what was due up to ``until``, of the entries that the ledger knows."""
        return self._tally(self._snapshot(), until)

    def rows(self) -> list[Row]:
        """Return where each entry stands now."""
        snapshot = self._snapshot()
        handled = self._tally(snapshot, snapshot.now).handled_of
        return [_row(entry, snapshot.positions.get(key), handled) for key, entry in self._entries.items()]

    def _snapshot(self) -> Snapshot:
        return self._ledger.snapshot(list(self._entries), EPOCH)

    def _tally(self, snapshot: Snapshot, until: datetime) -> Tally:
        known = [self._expectation(self._entries[key], position) for key, position in snapshot.positions.items()]
        passed = [Passed(one.entry, one.first, one.last) for one in snapshot.records if one.outcome in _DECIDED_AGAINST]
        return tally(known, passed, self._journal.lines(), namespace=self._namespace, until=until)

    def _expectation(self, entry: Entry, position: Position) -> Expectation:
        """The anchor is the instant at which the entry was first seen: from there on each instant counts."""
        return Expectation(entry.name, entry.timing.anchored(position.anchor), position.anchor, self._handlers(entry))

    def _handlers(self, entry: Entry) -> tuple[str, ...]:
        """A job's handler writes the journal under the entry's name."""
        if isinstance(entry.target, EventTarget):
            return tuple(listener.name for listener in self._listeners.of(entry.target.name))
        return (entry.name,)


def _row(entry: Entry, position: Position | None, handled: Mapping[str, int]) -> Row:
    if position is None:
        return Row(entry.name, _spec(entry.timing), None, None, 0)
    watermark, anchor = position
    following = entry.timing.anchored(anchor).next_after(watermark)
    last = watermark if watermark > anchor else None
    return Row(entry.name, _spec(entry.timing), last, following, handled.get(entry.name, 0))


def _spec(timing: Timing) -> str:
    if isinstance(timing, Cron):
        return f"{timing.spec} {str(timing.zone).rpartition('/')[2]}"
    return timing.describe() if isinstance(timing, Every) else timing.key
