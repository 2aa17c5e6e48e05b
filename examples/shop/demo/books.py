"""The books of one run: the schedule as it is written, the ledger's positions, and the journal of what was done."""

from collections.abc import Sequence
from datetime import datetime

from celery_leased_beat.events import Listeners
from celery_leased_beat.schedule import Entry, EventTarget
from celery_leased_beat.timing import Cron, Every, Timing
from examples.shop.demo.audit import Audit, Expectation, audit
from examples.shop.demo.stage import Row
from examples.shop.demo.watch import Position, Watch
from examples.shop.journal import Journal


class Books:
    """Knows what should have been done, and what was."""

    def __init__(
        self, entries: Sequence[Entry], listeners: Listeners, namespace: str, watch: Watch, journal: Journal
    ) -> None:
        self._entries = entries
        self._listeners = listeners
        self._namespace = namespace
        self._watch = watch
        self._journal = journal

    def audit(self, until: datetime) -> Audit:
        """Count what was due up to ``until``, of the entries that the ledger knows."""
        positions = self._watch.positions()
        expectations = [
            self._expectation(entry, positions[entry.name]) for entry in self._entries if entry.name in positions
        ]
        passed, lines = self._watch.passed(), self._journal.lines()
        return audit(expectations, passed, lines, namespace=self._namespace, until=until)

    def rows(self) -> list[Row]:
        """Return where each entry stands now."""
        positions = self._watch.positions()
        handled = self.audit(self._watch.now()).handled_of
        return [_row(entry, positions.get(entry.name), handled.get(entry.name, 0)) for entry in self._entries]

    def _expectation(self, entry: Entry, position: Position) -> Expectation:
        """The anchor is the instant at which the entry was first seen: from there on each instant counts."""
        return Expectation(entry.name, entry.timing.anchored(position.anchor), position.anchor, self._handlers(entry))

    def _handlers(self, entry: Entry) -> tuple[str, ...]:
        """A job's handler writes the journal under the entry's name."""
        if isinstance(entry.target, EventTarget):
            return tuple(listener.name for listener in self._listeners.of(entry.target.name))
        return (entry.name,)


def _row(entry: Entry, position: Position | None, handled: int) -> Row:
    if position is None:
        return Row(entry.name, _spec(entry.timing), None, None, 0)
    watermark, anchor = position
    following = entry.timing.anchored(anchor).next_after(watermark)
    return Row(entry.name, _spec(entry.timing), watermark if watermark > anchor else None, following, handled)


def _spec(timing: Timing) -> str:
    if isinstance(timing, Cron):
        return f"{timing.spec} {timing.zone}"
    return timing.describe() if isinstance(timing, Every) else timing.key
