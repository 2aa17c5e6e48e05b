"""An audit, as people and as programs read it."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import fields
from datetime import datetime, timedelta
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from celery_leased_beat.audit import Audit, Doubled, EntryAudit, Gap, Span
from celery_leased_beat.cli.terminal import new_table, printable, terminal
from celery_leased_beat.plan import Outcome

#: How many lines of one kind are printed; JSON has them all.
MOST_LINES = 20

#: What JSON has besides a finding's own fields.
_FIGURES = {
    Audit: ("missing", "doubled", "clean"),
    EntryAudit: ("counts", "missing", "largest_lateness", "terms", "holders"),
}

_ALWAYS = [str(outcome) for outcome in Outcome] + [str(Gap.MISSING), "doubled"]


def show(audit: Audit, namespace: str, *, no_color: bool = False) -> None:
    """Print a table with a line per entry, then each finding. To anything but a terminal in plain text."""
    console, plain = terminal(no_color=no_color)
    console.print(f"{namespace}: {_time(audit.since)} to {_time(audit.until)}, {_record(audit)}")
    if len(audit.entries) == 1:
        console.print(f"{_name(audit.entries[0])}: {printable(audit.entries[0].description)}")
    if audit.entries or audit.removed:
        console.print(_table(audit, plain=plain))
    for title, lines in _findings(audit):
        _list(console, title, lines)
    console.print(f"missing {audit.missing}, doubled {audit.doubled}", style="green" if audit.clean else "bold red")


def to_json(audit: Audit) -> str:
    """Return all that was found as JSON: times as ISO text, durations in seconds."""
    return json.dumps(audit, default=_plain, indent=2)


def _plain(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, timedelta):
        return value.total_seconds()
    names = [field.name for field in fields(value)]
    return {name: getattr(value, name) for name in (*names, *_FIGURES.get(type(value), ()))}


def _record(audit: Audit) -> str:
    if audit.reaches_back is None:
        return "and nothing is on record"
    return f"on record since {_time(audit.reaches_back)}"


def _table(audit: Audit, *, plain: bool) -> Table:
    entries = [*audit.entries, *audit.removed]
    found = {outcome for entry in entries for outcome in entry.counts}
    columns = [*_ALWAYS, *sorted(found - set(_ALWAYS))]
    table = new_table(plain=plain)
    table.add_column("entry", overflow="fold")
    for name in [*columns, "latest", "terms", "holders"]:
        table.add_column(name, justify="right")
    for entry in entries:
        figures = {**entry.counts, "doubled": sum(doubled.count for doubled in entry.doubled)}
        late = entry.largest_lateness
        table.add_row(
            _name(entry),
            *(_figure(name, figures.get(name, 0)) for name in columns),
            "" if late is None else f"{late.total_seconds():.3f} s",
            str(len(entry.terms)),
            str(len(entry.holders)),
        )
    return table


def _findings(audit: Audit) -> Iterator[tuple[str, Sequence[str]]]:
    """Yield each kind of finding with its lines, the worst first."""
    entries = [*audit.entries, *audit.removed]
    yield "missing", [_line(entry, span) for entry in entries for span in entry.missing]
    yield "doubled", [_twice(entry, doubled) for entry in entries for doubled in entry.doubled]
    yield "strange, these do not fit the timing", [_line(entry, span) for entry in entries for span in entry.strange]
    lost, others = Gap.UNRECORDED, {Outcome.FIRED, Gap.MISSING, Gap.PENDING, Gap.UNRECORDED}
    spans = [(entry, span) for entry in entries for span in entry.spans]
    yield "not fired", [_line(entry, span) for entry, span in spans if span.outcome not in others]
    yield "not on record, fired or not", [_line(entry, span) for entry, span in spans if span.outcome == lost]
    yield "notes", [f"{_name(entry)}: {note}" for entry in entries for note in entry.notes]
    yield "no longer in the schedule", [_name(entry) for entry in audit.removed]


def _list(console: Console, title: str, lines: Sequence[str]) -> None:
    if lines:
        console.print(f"{title}:")
        for line in lines[:MOST_LINES]:
            console.print(f"  {line}")
        if len(lines) > MOST_LINES:
            console.print(f"  and {len(lines) - MOST_LINES} more; --json has them all")


def _line(entry: EntryAudit, span: Span) -> str:
    reason = f" ({printable(span.reason)})" if span.reason else ""
    return f"{_name(entry)} {_instants(span)} {span.outcome}{reason}"


def _twice(entry: EntryAudit, doubled: Doubled) -> str:
    decisions = ", ".join(f"{one.outcome} by {printable(one.holder)} in term {one.term}" for one in doubled.decisions)
    return f"{_name(entry)} {_instants(doubled)} {decisions}"


def _instants(span: Span | Doubled) -> str:
    if span.count == 1:
        return _time(span.first)
    return f"{_time(span.first)} to {_time(span.last)}, {span.count} instants,"


def _figure(name: str, number: int) -> Text:
    return Text(str(number), style="bold red" if number and name in (Gap.MISSING, "doubled") else "")


def _name(entry: EntryAudit) -> str:
    return printable(entry.name)


def _time(instant: datetime) -> str:
    return instant.isoformat(timespec="milliseconds").replace("+00:00", "Z")
