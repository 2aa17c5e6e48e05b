"""What an audit finds. All times are aware and in UTC, a span's ends are themselves instants."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from celery_leased_beat.plan import Outcome


class Gap(StrEnum):
    """Why no decision covers an instant.

    MISSING: one should. RETIMED: it was dropped as the entry's timing changed. UNRECORDED: the history does not reach
    back so far, or the server has lost the decision. PENDING: it was due so short a time ago that its decision may
    still come.
    """

    MISSING = "missing"
    RETIMED = "retimed"
    UNRECORDED = "unrecorded"
    PENDING = "pending"


@dataclass(frozen=True, slots=True)
class Span:
    """The ``count`` instants of an entry from ``first`` to ``last``, and what became of them.

    ``outcome`` is one of ``Outcome`` or of ``Gap``. Of a decision, ``late`` is by how much it came after ``last``, and
    ``term`` and ``holder`` tell whose it is.
    """

    outcome: str
    first: datetime
    last: datetime
    count: int
    reason: str = ""
    late: timedelta | None = None
    term: int | None = None
    holder: str = ""


@dataclass(frozen=True, slots=True)
class Doubled:
    """The ``count`` instants from ``first`` to ``last`` that more than one of ``decisions`` covers."""

    first: datetime
    last: datetime
    count: int
    decisions: Sequence[Span]


@dataclass(frozen=True, slots=True)
class EntryAudit:
    """What became of the instants of one entry.

    ``timing`` is the timing's key, ``description`` the same in English, both empty where the code has no such entry.
    ``enrolled`` is when it was first seen and ``watermark`` its last decided instant, both None where the ledger does
    not know it. ``spans`` are all instants of the window in order. ``strange`` are decisions that do not fit the
    timing. ``notes`` are sentences for people.
    """

    name: str
    timing: str
    enrolled: datetime | None
    watermark: datetime | None
    spans: Sequence[Span]
    doubled: Sequence[Doubled] = ()
    strange: Sequence[Span] = ()
    notes: Sequence[str] = ()
    description: str = ""

    @property
    def missing(self) -> Sequence[Span]:
        """The instants that nobody decided and somebody should have."""
        return tuple(span for span in self.spans if span.outcome == Gap.MISSING)

    @property
    def counts(self) -> Mapping[str, int]:
        """The number of instants by what became of them."""
        counts: Counter[str] = Counter()
        for span in self.spans:
            counts[str(span.outcome)] += span.count
        return counts

    @property
    def largest_lateness(self) -> timedelta | None:
        """By how much the latest of the fires came after its instant."""
        fired = (span for span in self.spans if span.outcome == Outcome.FIRED)
        return max((span.late for span in fired if span.late is not None), default=None)

    @property
    def terms(self) -> Sequence[int]:
        """The terms that decided, in order."""
        return tuple(sorted({span.term for span in self.spans if span.term is not None}))

    @property
    def holders(self) -> Sequence[str]:
        """The replicas that decided, in the order of their first decision."""
        return tuple(dict.fromkeys(span.holder for span in self.spans if span.holder))


@dataclass(frozen=True, slots=True)
class Audit:
    """What became of each instant from ``since`` on and before ``until``.

    ``removed`` are entries of the history that the code does not have: there is no timing to hold against them. The
    record begins at ``reaches_back``, None where it is empty.
    """

    since: datetime
    until: datetime
    reaches_back: datetime | None
    entries: Sequence[EntryAudit]
    removed: Sequence[EntryAudit] = ()

    @property
    def missing(self) -> int:
        """The number of instants that nobody decided and somebody should have."""
        return sum(span.count for entry in self.entries for span in entry.missing)

    @property
    def doubled(self) -> int:
        """The number of instants that were decided more than once."""
        return sum(span.count for entry in [*self.entries, *self.removed] for span in entry.doubled)

    @property
    def clean(self) -> bool:
        """Whether nothing is missing and nothing doubled."""
        return not (self.missing or self.doubled)
