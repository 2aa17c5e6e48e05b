"""The verdict on the ledger: each instant was decided once, as its entry's policy says.

The product's own audit tells, over each stretch of time in which an entry kept its grid. Where the server lost its
data, an entry begins anew unless the last holder goes on from what it remembers (docs/guarantees.md): that a stretch
ends is allowed where the last holder was gone, or kept from its work, and nowhere else.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise

from celery_leased_beat.audit import Doubled, EntryAudit, Span, audit
from celery_leased_beat.engine import EntryKey
from celery_leased_beat.plan import Outcome
from celery_leased_beat.schedule import Entry
from celery_leased_beat.store import Snapshot
from tests.chaos.evidence import Evidence
from tests.chaos.programme import all_entries, entries_of, keys_of

TICK = timedelta(microseconds=1)
EPOCH = datetime.fromtimestamp(0, UTC)

#: A holder may decide again what it claimed so short a time (seconds) before the loss: the reply was lost too.
IN_FLIGHT = 5.0


@dataclass(frozen=True)
class Ruling:
    """One finding; ``allowed`` names the documented limit that it falls under, empty where there is none."""

    what: str
    text: str
    allowed: str = ""


@dataclass(frozen=True)
class Stretch:
    """The time in which ``entry`` kept its grid; ``ledger`` is as it was at the end. ``lost_at`` is what ended it."""

    entry: Entry
    anchor: datetime
    watermark: datetime
    ledger: Snapshot
    lost_at: float | None


def judge_decisions(evidence: Evidence) -> Iterator[Ruling]:
    """Yield what is wrong with what was decided, and what only a documented limit allows."""
    for key, entry in all_entries().items():
        stretches = _stretches(evidence, key, entry)
        for stretch in stretches:
            yield from _judge(evidence, stretch, served=entry.name in entries_of(evidence.version))
        for before, after in pairwise(stretches):
            yield from _judge_gap(evidence, before, after)


def _stretches(evidence: Evidence, key: EntryKey, entry: Entry) -> list[Stretch]:
    stretches: list[Stretch] = []
    for number, era in enumerate(evidence.eras):
        position = era.snapshot.positions.get(key)
        if position is None:
            continue
        lost_at = era.ended if number < len(evidence.eras) - 1 else None
        ledger = era.snapshot
        if stretches and stretches[-1].anchor == position.anchor:
            before = stretches.pop().ledger
            ledger = replace(ledger, records=[*before.records, *ledger.records], reaches_back=before.reaches_back)
        stretches.append(Stretch(entry, position.anchor, position.watermark, ledger, lost_at))
    return stretches


def _judge(evidence: Evidence, stretch: Stretch, *, served: bool) -> Iterator[Ruling]:
    until = stretch.watermark + TICK
    if stretch.lost_at is None and served:
        until = datetime.fromtimestamp(evidence.until, UTC)
    found = audit([stretch.entry], stretch.ledger, since=stretch.anchor, until=until, tolerance=timedelta()).entries[0]
    for span in [*found.missing, *found.strange]:
        yield Ruling(f"decision {span.outcome}", f"{found.name} {span}")
    for doubled in found.doubled:
        yield Ruling("decided twice", f"{found.name} {doubled}", _why_twice(evidence, doubled))
    yield from _judge_policy(stretch.entry, found)


def _why_twice(evidence: Evidence, doubled: Doubled) -> str:
    """Only a replica that held the lease before decides again, where it has not heard of the claim that was lost."""
    first, *_, last = sorted(doubled.decisions, key=_decided_at)
    lost = next((lost for lost in evidence.losses if _decided_at(first) <= lost <= _decided_at(last)), None)
    if lost is None or (first.holder == last.holder and lost - _decided_at(first) > IN_FLIGHT):
        return ""
    return "the claim was lost with the server's data"


def _decided_at(decision: Span) -> float:
    return (decision.last + (decision.late or timedelta())).timestamp()


def _judge_policy(entry: Entry, found: EntryAudit) -> Iterator[Ruling]:
    """Each outcome needs a policy of the entry that calls for it."""
    policy = entry.policy
    called_for = {Outcome.FIRED: True, Outcome.COALESCED: policy.catch_up != "all", Outcome.FAILED: False}
    for span in found.spans:
        allowed = called_for.get(Outcome(span.outcome), True) if span.outcome in list(Outcome) else True
        if span.outcome == Outcome.SKIPPED:
            allowed = (span.reason == "past its grace" and policy.grace is not None) or (
                span.reason == "no holder" and policy.catch_up == "skip"
            )
        if not allowed:
            yield Ruling("against the policy", f"{found.name} {span}")


def _judge_gap(evidence: Evidence, before: Stretch, after: Stretch) -> Iterator[Ruling]:
    count = before.entry.timing.anchored(before.anchor).count(before.watermark, after.anchor)
    if count and before.lost_at is not None:
        text = f"{before.entry.name}: {count} instants from {before.watermark} to {after.anchor}"
        key = EntryKey(before.entry.name, before.entry.timing.key)
        yield Ruling("begun anew after a loss of data", text, _why_anew(evidence, key, before.lost_at))


def _why_anew(evidence: Evidence, key: EntryKey, lost_at: float) -> str:
    era = next(era for era in evidence.eras if era.ended == lost_at)
    if why := evidence.why_idle(era):
        return f"the data was lost, and {why}"
    life = evidence.life_of(era.holder, lost_at) if era.holder else None
    if life and key not in keys_of(life.version):
        return "the data was lost, and its holder had another version of the schedule"
    return ""
