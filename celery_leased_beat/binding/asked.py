"""A Celery schedule that only its own code understands, as a timing: ``solar``, and what people write themselves.

Beat puts one question to a schedule, again and again: are you due now, when you last ran then, and when shall I ask
again? The same question is put to it here, with its clock set to whatever time is meant, so that the answer is an
instant and not the time at which somebody happened to ask. What was asked up to now is kept: each question is put once.

A schedule may look at more than the time: a flag, a table of holidays. So it is never asked further ahead than it says
itself, and where it is not due then, it is asked again when that time has come.
"""

import math
from bisect import bisect_right
from dataclasses import dataclass, field
from datetime import datetime, timedelta, tzinfo
from typing import Any

from celery_leased_beat.timing import AskAgain, to_utc

#: How often one question of the engine may ask the schedule, whose answer may take its time: what was missed for longer
#: is only looked at at its end, as beat would.
ASKS = 100
#: What an answer may say of when to ask again; beat takes its longest sleep where a schedule does not say.
SHORTEST_WAIT, LONGEST_WAIT, UNKNOWN_WAIT = timedelta(seconds=1), timedelta(days=366), timedelta(minutes=5)

_SECOND = timedelta(seconds=1)


@dataclass(slots=True)
class _Asked:
    """What is known since ``begin``: when the schedule was due, when last, and when it wants to be asked next."""

    begin: datetime
    last: datetime
    next: datetime
    due: list[datetime] = field(default_factory=list)


class Asked:
    """The instants at which ``schedule`` says that it is due, in whole seconds. Belongs to one thread.

    It is asked in ``zone``; ``text`` is what it says of itself, the same in every process. ``has_memory`` says that it
    may go by something else than the time, such as when it last ran.
    """

    def __init__(self, schedule: Any, zone: tzinfo, text: str, *, has_memory: bool = True) -> None:
        self._schedule = schedule
        self._zone = zone
        self._text = text
        self.has_memory = has_memory
        self._asked: _Asked | None = None

    @property
    def key(self) -> str:
        """``asked <class> <what it says of itself>``."""
        kind = type(self._schedule)
        return f"asked {kind.__module__}.{kind.__qualname__} {self._text}"

    def next_after(self, instant: datetime) -> datetime | None:
        """Return the first instant later than ``instant``. Raises ``AskAgain`` where the schedule wants to be asked."""
        instant = to_utc(instant)
        asked = self._known(instant)
        number = bisect_right(asked.due, instant)
        if number < len(asked.due):
            return asked.due[number]
        now = asked.next
        is_due, wait = self._ask(asked.last, now)
        if now <= asked.last:  # it ran just then, so the answer is when to ask
            now = _later(now, wait)
            is_due, _ = self._ask(asked.last, now)
        if is_due:
            return now
        raise AskAgain(now)

    def count(self, after: datetime, until: datetime) -> int:
        """Return how many instants lie in (after, until], which is not later than now."""
        after, until = to_utc(after), to_utc(until)
        asked = self._asked = self._known(after)
        if asked.last <= after and asked.next <= until:
            asked.begin, asked.due = after, []  # what is decided is not asked for again
        self._go_on(asked, until)
        return max(0, bisect_right(asked.due, until) - bisect_right(asked.due, after))

    def resolved(self, zone: tzinfo) -> "Asked":
        """Return itself: it has the zone that Celery gives it."""
        return self

    def anchored(self, anchor: datetime) -> "Asked":
        """Return the same timing, which has not been asked anything."""
        return Asked(self._schedule, self._zone, self._text, has_memory=self.has_memory)

    def describe(self) -> str:
        """Return what the schedule says of itself."""
        return self._text

    def _known(self, instant: datetime) -> _Asked:
        """Return what is known from ``instant`` on: a schedule that ran then."""
        asked = self._asked
        if asked is not None and asked.begin <= instant <= asked.next:
            return asked
        if self.has_memory:
            return _Asked(instant, instant, instant)
        # What it means lies up to a second before its instant, a whole second, and ``instant`` may lie between.
        last = instant.replace(microsecond=0)
        return _Asked(instant, last, last if last == instant else last + _SECOND)

    def _go_on(self, asked: _Asked, until: datetime) -> None:
        """Ask for what lies up to ``until``."""
        for number in range(ASKS + 1):
            if asked.next > until:
                return
            if number == ASKS:
                asked.next = max(asked.next, until.replace(microsecond=0))
            is_due, wait = self._ask(asked.last, asked.next)
            if is_due and asked.next > asked.last:
                asked.last = asked.next
                asked.due.append(asked.last)
            asked.next = _later(asked.next, wait)

    def _ask(self, last: datetime, now: datetime) -> tuple[bool, Any]:
        """Ask the schedule whether it is due at ``now``; its clock is its own again afterwards."""
        schedule = self._schedule
        clock = getattr(schedule, "nowfun", None)
        schedule.nowfun = lambda: now.astimezone(self._zone)
        try:
            is_due, wait = schedule.is_due(last.astimezone(self._zone))
        finally:
            schedule.nowfun = clock
        return bool(is_due), wait


def _later(now: datetime, wait: Any) -> datetime:
    """Return when to ask again, in whole seconds, where the answer at ``now`` was to wait for ``wait`` seconds."""
    pause = UNKNOWN_WAIT
    if isinstance(wait, int | float) and not math.isnan(wait):
        pause = timedelta(seconds=min(max(wait, SHORTEST_WAIT.total_seconds()), LONGEST_WAIT.total_seconds()))
    later = now + pause
    return later if not later.microsecond else later.replace(microsecond=0) + _SECOND
