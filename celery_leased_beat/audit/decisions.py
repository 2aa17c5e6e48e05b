"""From the history's records to decisions, and where two of them meet."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from typing import NamedTuple

from celery_leased_beat.audit.findings import Span
from celery_leased_beat.plan import Outcome
from celery_leased_beat.store.history import Record


class Overlap(NamedTuple):
    """The time from ``first`` to ``last`` that more than one of ``decisions`` covers."""

    first: datetime
    last: datetime
    decisions: tuple[Span, ...]


def read_decisions(records: Iterable[Record]) -> list[Span]:
    """Return what was decided, in order of time.

    A fire that was claimed and later given up has a second record under its id. It is no second decision: the fire
    counts as what that one says. A record without instants decides nothing.
    """
    records = [record for record in records if record.count]
    given_up = {record.fire_id: record for record in records if _is_ending(record)}
    claimed = [record for record in records if not _is_ending(record)]
    # The claim may be older than what the history still has.
    alone = given_up.keys() - {record.fire_id for record in claimed}
    found = [_span(record, given_up.get(record.fire_id, record)) for record in claimed]
    found += [_span(given_up[fire_id], given_up[fire_id]) for fire_id in alone]
    return sorted(found, key=lambda span: (span.first, span.last))


def overlaps(decisions: Sequence[Span]) -> Iterator[Overlap]:
    """Yield each time that is covered twice or more often, in order; ``decisions`` are in order of time."""
    widest: Span | None = None
    found: Overlap | None = None
    for decision in decisions:
        if widest is not None and decision.first <= widest.last:
            last = min(decision.last, widest.last)
            if found is not None and decision.first <= found.last:
                found = Overlap(found.first, max(found.last, last), (*found.decisions, decision))
            else:
                if found is not None:
                    yield found
                found = Overlap(decision.first, last, (widest, decision))
        if widest is None or decision.last > widest.last:
            widest = decision
    if found is not None:
        yield found


def _is_ending(record: Record) -> bool:
    return bool(record.fire_id) and record.outcome != Outcome.FIRED


def _span(record: Record, ending: Record) -> Span:
    return Span(
        outcome=ending.outcome,
        first=record.first,
        last=record.last,
        count=record.count,
        reason=ending.reason,
        late=record.late,
        term=record.term,
        holder=record.holder,
    )
