"""What was done, held against the schedule's own instants. The tally takes no figure from the scheduler.

It lays each entry's timing from the anchor that the ledger has for it, walks over every instant up to the end, and
looks each up, by its fire id, among the lines that the handlers wrote. An instant that nobody handled is missing,
unless the ledger has a record that it was coalesced or skipped.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from celery_leased_beat.fires import fire_id
from celery_leased_beat.timing import Timing
from examples.shop.journal import Line


@dataclass(frozen=True)
class Expectation:
    """What one entry has to bring about: at each instant of ``timing`` after ``since``, each handler runs once."""

    entry: str
    timing: Timing
    since: datetime
    handlers: tuple[str, ...]


@dataclass(frozen=True)
class Passed:
    """A record of the ledger: the instants of ``entry`` from ``first`` to ``last`` were decided not to fire."""

    entry: str
    first: datetime
    last: datetime


@dataclass(frozen=True)
class Tally:
    """The figures.

    ``enqueued`` are the fires that reached a worker, ``handled_of`` those of each entry that every handler completed.
    ``missing`` and ``doubled`` name one handler of one instant each, ``strange`` are lines of no instant: all three
    should be empty.
    """

    instants: int
    coalesced: int
    enqueued: int
    handled_of: Mapping[str, int]
    missing: Sequence[str]
    doubled: Sequence[str]
    strange: Sequence[str]

    @property
    def handled(self) -> int:
        return sum(self.handled_of.values())

    @property
    def clean(self) -> bool:
        return not (self.missing or self.doubled or self.strange)


@dataclass(frozen=True)
class _Due:
    entry: str
    instant: datetime
    fire: str
    handlers: tuple[str, ...]

    @property
    def runs(self) -> Iterator[tuple[str, str]]:
        for handler in self.handlers:
            yield self.fire, handler

    def called(self, handler: str) -> str:
        return f"{self.entry} {self.instant.isoformat()} {handler}"


def tally(
    expectations: Iterable[Expectation],
    passed: Iterable[Passed],
    lines: Iterable[Line],
    *,
    namespace: str,
    until: datetime,
) -> Tally:
    """Look for each instant up to ``until`` among ``lines``."""
    lines, passed = list(lines), list(passed)
    done = Counter(line.run for line in lines)
    reached = {line.fire for line in lines}
    all_due = [due for expectation in expectations for due in _instants(expectation, namespace, until)]
    wanted = [due for due in all_due if due.fire in reached or not _is_passed(due, passed)]
    expected = {run for due in wanted for run in due.runs}
    first = min((due.instant for due in all_due), default=until)
    return Tally(
        instants=len(all_due),
        coalesced=len(all_due) - len(wanted),
        enqueued=sum(due.fire in reached for due in wanted),
        handled_of=Counter(due.entry for due in wanted if all(done[run] for run in due.runs)),
        missing=[due.called(run[1]) for due in wanted for run in due.runs if not done[run]],
        doubled=[due.called(run[1]) for due in wanted for run in due.runs if done[run] > 1],
        strange=[str(line) for line in lines if first <= line.due <= until and line.run not in expected],
    )


def _instants(expectation: Expectation, namespace: str, until: datetime) -> Iterator[_Due]:
    instant = expectation.timing.next_after(expectation.since)
    while instant is not None and instant <= until:
        fire = fire_id(namespace, expectation.entry, instant)
        yield _Due(expectation.entry, instant, fire, expectation.handlers)
        instant = expectation.timing.next_after(instant)


def _is_passed(due: _Due, passed: Iterable[Passed]) -> bool:
    return any(record.entry == due.entry and record.first <= due.instant <= record.last for record in passed)
