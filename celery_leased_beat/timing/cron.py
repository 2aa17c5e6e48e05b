"""A cron spec in a time zone.

What a daylight-saving change does to an entry follows from how its times are written:

* Minute and hour in numbers (``30 2``, ``0 6,18``): it runs by a clock that never goes back and jumps over the gap.
  What lies in a gap is due once, at the gap's end; a repeated time is due at its first pass.
* ``*``, a range or a step in minute or hour (``*/5 *``, ``0 9-17``): it runs by the clock on the wall. A gap has
  nothing, and each repeated minute is due at both passes.
"""

from dataclasses import dataclass, field, replace
from datetime import datetime, tzinfo

from celery_leased_beat.errors import SpecError
from celery_leased_beat.timing.english import describe
from celery_leased_beat.timing.pattern import Pattern, read_pattern
from celery_leased_beat.timing.zones import LAST_INSTANT, TICK, Stretch, reached, stretches, to_utc, to_zone


@dataclass(frozen=True, slots=True)
class Cron:
    """The instants that a spec of five fields, or a descriptor such as ``@daily``, names in a zone.

    The fields are minute, hour, day-of-month, month and day-of-week. Where both day fields restrict, either is enough
    (OR, as cron has it); a field restricts unless it is ``*``. With ``both_days`` both are wanted (AND, as Celery's
    crontab has it). 7 is Sunday; ranges wrap in months and days of the week.
    Raises SpecError for what it cannot read and for a date that never comes. Without a zone it has no instants yet.
    """

    spec: str
    zone: tzinfo | None = None
    both_days: bool = False
    _pattern: Pattern = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if not isinstance(self.spec, str):
            raise SpecError(f"a cron spec is a string such as '0 3 * * *', not {self.spec!r}")
        object.__setattr__(self, "_pattern", read_pattern(self.spec, self.both_days))
        if self.zone is not None:
            object.__setattr__(self, "zone", to_zone(self.zone))

    @property
    def key(self) -> str:
        """``cron <the five fields> <zone>``, with the fields in their normal form: ``cron 0 3 * * 1,2 UTC``.

        Where both day fields restrict and both are wanted, ``both-days`` stands before the zone.
        """
        return f"cron {self._pattern.key}" + (f" {self.zone}" if self.zone is not None else "")

    def next_after(self, instant: datetime) -> datetime | None:
        """Return the first instant later than ``instant``, None beyond the last year of the calendar."""
        zone, instant = self._zone(), to_utc(instant)
        if instant >= LAST_INSTANT:
            return None
        return self._reaching(zone, instant) if self._pattern.fixed else self._on_the_wall(zone, instant)

    def count(self, after: datetime, until: datetime) -> int:
        """Return how many instants lie in (after, until]."""
        zone, after, until = self._zone(), to_utc(after), min(to_utc(until), LAST_INSTANT - TICK)
        if until <= after:
            return 0
        parts = stretches(zone, after + TICK, until + TICK)
        if not self._pattern.fixed:
            return sum(self._pattern.count(part.wall(part.start), part.wall(part.end)) for part in parts)
        named = self._pattern.count(reached(zone, after), reached(zone, until))
        return named - sum(self._merged(zone, part) for part in parts)

    def resolved(self, zone: tzinfo) -> "Cron":
        """Return itself where it has a zone, else the same spec in ``zone``."""
        return replace(self, zone=zone) if self.zone is None else self

    def anchored(self, anchor: datetime) -> "Cron":
        """Return itself: the calendar is its anchor."""
        return self

    def describe(self) -> str:
        """Return the timing in English, with what two day fields mean together."""
        zone = f", {self.zone} time" if self.zone is not None else ""
        return describe(self._pattern.fields, both_days=self.both_days) + zone

    def _reaching(self, zone: tzinfo, instant: datetime) -> datetime | None:
        """Return when the clock that never goes back first shows, or jumps over, the next minute it has not reached."""
        due = self._pattern.first_from(reached(zone, instant))
        if due is None:
            return None
        for stretch in stretches(zone, instant + TICK):
            if due < stretch.wall(stretch.end):
                return max(stretch.start, stretch.instant(due))
        return None

    def _on_the_wall(self, zone: tzinfo, instant: datetime) -> datetime | None:
        """Return when the clock on the wall next shows a minute that is named."""
        asked = due = None
        for stretch in stretches(zone, instant + TICK):
            opening = stretch.wall(stretch.start)
            if asked is None or due is None or not asked <= opening <= due:
                asked, due = opening, self._pattern.first_from(opening)
            if due is None:
                return None
            if due < stretch.wall(stretch.end):
                return stretch.instant(due)
        return None

    def _merged(self, zone: tzinfo, stretch: Stretch) -> int:
        """Return how many minutes fall on the start of a stretch together with another one."""
        jumped = self._pattern.count(reached(zone, stretch.start - TICK), reached(zone, stretch.start))
        return max(0, jumped - 1)

    def _zone(self) -> tzinfo:
        if self.zone is None:
            raise ValueError(f"{self.spec!r} has no time zone yet; resolved(...) gives it one")
        return self.zone
