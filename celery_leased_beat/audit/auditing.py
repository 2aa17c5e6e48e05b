"""The audit itself: a pure function of the schedule, of what the ledger said, and of a window."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from celery_leased_beat.audit.decisions import overlaps, read_decisions
from celery_leased_beat.audit.findings import Audit, Doubled, EntryAudit, Span
from celery_leased_beat.audit.gaps import Expectation, find_gaps
from celery_leased_beat.audit.instants import Period, closed
from celery_leased_beat.audit.notes import RECALLED, RETIMED, changes, standing
from celery_leased_beat.engine import EntryKey
from celery_leased_beat.schedule import Entry
from celery_leased_beat.store import Record, Snapshot
from celery_leased_beat.timing import TICK, described, to_utc

#: Where an empty history begins: nothing is older than its record.
_NEVER = datetime.max.replace(tzinfo=UTC)


def audit(
    entries: Iterable[Entry], ledger: Snapshot, *, since: datetime, until: datetime, tolerance: timedelta
) -> Audit:
    """Return what became of each instant of ``entries`` from ``since`` on and before ``until``.

    The timings of ``entries`` have their zones. ``ledger`` was read with all records from ``since`` on. An instant
    that was due less than ``tolerance`` ago may still be decided: it is pending, and not missing.
    """
    since, until = to_utc(since), to_utc(until)
    window = Period(since - TICK, min(until - TICK, ledger.now))
    history: dict[str, list[Record]] = defaultdict(list)
    for record in ledger.records:
        history[record.entry].append(record)
    examined = []
    for entry in entries:
        key, records = EntryKey(entry.name, entry.timing.key), history.pop(entry.name, [])
        expected = _expectation(entry, key, records, ledger, ledger.now - tolerance)
        found = _examine(key, expected, records, window, standing(entry.timing, key, ledger))
        examined.append(replace(found, description=described(entry.timing)))
    removed = [_examine(EntryKey(name, ""), None, records, window) for name, records in sorted(history.items())]
    return Audit(since, until, ledger.reaches_back, tuple(examined), tuple(entry for entry in removed if entry.spans))


def _expectation(
    entry: Entry, key: EntryKey, records: Sequence[Record], ledger: Snapshot, settled: datetime
) -> Expectation | None:
    position = ledger.positions.get(key)
    if position is None:
        return None
    return Expectation(
        timing=entry.timing.anchored(position.anchor),
        position=position,
        served=ledger.serving.get(key.name, key.timing) == key.timing,
        reaches_back=ledger.reaches_back or _NEVER,
        settled=settled,
        retimed=_periods(records, RETIMED),
        recalled=_periods(records, RECALLED),
    )


def _periods(records: Iterable[Record], outcome: str) -> tuple[Period, ...]:
    return tuple(Period(record.first, record.last) for record in records if record.outcome == outcome)


def _examine(
    key: EntryKey, expected: Expectation | None, records: Sequence[Record], window: Period, notes: Iterable[str] = ()
) -> EntryAudit:
    decisions = read_decisions(records)
    seen = [decision for decision in decisions if not closed(decision.first, decision.last).within(window).empty]
    spans = [part for decision in seen for part in _cut(decision, expected, window)]
    if expected is not None:
        spans += find_gaps(expected, decisions, window)
    return EntryAudit(
        name=key.name,
        timing=key.timing,
        enrolled=expected.position.anchor if expected else None,
        watermark=expected.position.watermark if expected else None,
        spans=tuple(sorted(spans, key=lambda span: span.first)),
        doubled=tuple(_doubled(decisions, expected, window)),
        strange=tuple(decision for decision in seen if expected and not expected.fits(decision)),
        notes=(*notes, *changes(records)),
    )


def _cut(decision: Span, expected: Expectation | None, window: Period) -> Iterator[Span]:
    """Yield what of ``decision`` lies in the window: all of it where its own timing is not known, or does not tell."""
    whole = closed(decision.first, decision.last)
    part = whole.within(window)
    if part == whole or expected is None or not (expected.tells and expected.covers(decision)):
        yield decision
    elif instants := part.instants(expected.timing):
        first, last, count = instants
        yield replace(decision, first=first, last=last, count=count)


def _doubled(decisions: Sequence[Span], expected: Expectation | None, window: Period) -> Iterator[Doubled]:
    for overlap in overlaps(decisions):
        part = closed(overlap.first, overlap.last).within(window)
        if not part.empty:
            # Where the timing does not tell the ends alone are known: each is an instant of one decision or the other.
            ends = overlap.first, overlap.last, 1 if overlap.first == overlap.last else 2
            instants = part.instants(expected.timing) if expected and expected.tells else None
            yield Doubled(*(instants or ends), overlap.decisions)
