"""The five fields of a cron spec: what is allowed in them, and which numbers they mean.

croniter takes more than a cron spec is, and reads some of it in another way than people do (``1-1`` as the whole
field), so each field is checked here and croniter is shown nothing but ``*`` and lists of numbers.
"""

import re
from dataclasses import dataclass
from typing import NamedTuple

from celery_leased_beat.errors import SpecError

_DESCRIPTORS = {
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
    "@monthly": "0 0 1 * *",
    "@weekly": "0 0 * * 0",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@hourly": "0 * * * *",
}

_VALUE = "[A-Za-z]+|[0-9]{1,9}"
_TERM = re.compile(rf"(?:\*|(?P<low>{_VALUE})(?:-(?P<high>{_VALUE}))?)(?:/(?P<step>[0-9]{{1,9}}))?")
_NUMBER = re.compile("[0-9]+")


@dataclass(frozen=True, slots=True)
class Kind:
    """One of the five fields. ``highest`` is the largest number it takes: 7 is Sunday too.

    Where numbers have names they go round, so a range may wrap.
    """

    name: str
    first: int
    size: int
    highest: int
    names: tuple[str, ...] = ()

    def number(self, text: str) -> int:
        """Return the number that ``text``, a number or a name, stands for."""
        if text.lower() in self.names:
            return self.first + self.names.index(text.lower())
        if not text.isdigit() or not self.first <= int(text) <= self.highest:
            raise SpecError(f"{self.name} {text!r} is not allowed; it takes {self.allowed()}")
        return int(text)

    def allowed(self) -> str:
        """Return in English what a single value may be."""
        names = f" or a name from {self.names[0]} to {self.names[-1]}" if self.names else ""
        return f"a number from {self.first} to {self.highest}{names}"


KINDS = (
    Kind("minute", 0, 60, 59),
    Kind("hour", 0, 24, 23),
    Kind("day-of-month", 1, 31, 31),
    Kind("month", 1, 12, 12, ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")),
    Kind("day-of-week", 0, 7, 7, ("sun", "mon", "tue", "wed", "thu", "fri", "sat")),
)

#: The days of each month, of February in a leap year.
_LONGEST = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)


class Term(NamedTuple):
    """One item of a list: the values it means, and its text without leading zeros."""

    values: tuple[int, ...]
    text: str


@dataclass(frozen=True, slots=True)
class Field:
    """A field as read.

    ``text`` has its terms in order, ``values`` are sorted; ``fixed`` says that it was written in numbers only, ``full``
    that it restricts nothing.
    """

    text: str
    values: tuple[int, ...]
    fixed: bool
    full: bool

    @property
    def numbers(self) -> str:
        """The values as croniter is given them."""
        return "*" if self.full else ",".join(map(str, self.values))


class Fields(NamedTuple):
    """The five fields of a spec. A day field that is full restricts nothing, whatever it was written as."""

    minute: Field
    hour: Field
    day: Field
    month: Field
    weekday: Field


def read_fields(spec: str, *, both_days: bool = False) -> Fields:
    """Read a spec of five fields or a descriptor. Raises SpecError that says what is wrong and what is allowed.

    With ``both_days`` each day field stands for itself; else either is enough where both are given.
    """
    texts = _DESCRIPTORS.get(spec.strip().lower(), spec).split()
    if texts and texts[0].startswith("@"):
        raise SpecError(f"{spec!r} is not a cron descriptor; take one of {', '.join(_DESCRIPTORS)}")
    if len(texts) != len(KINDS):
        raise SpecError(
            f"{spec!r} has {len(texts)} fields; a cron spec has exactly five: {' '.join(kind.name for kind in KINDS)}"
            " (no seconds: for an interval write '@every 30s' or give a timedelta)"
        )
    try:
        fields = Fields(*map(read_field, KINDS, texts))
    except SpecError as error:
        raise SpecError(f"{spec!r}: {error}") from None
    return fields if both_days or "*" in (texts[2], texts[4]) else _either(fields)


def _either(fields: Fields) -> Fields:
    """Simplify two day fields of which either is enough: a full one means every day, one that never comes goes."""
    every_day = read_field(KINDS[2], "*")
    if fields.day.full or fields.weekday.full:
        return fields._replace(day=every_day, weekday=read_field(KINDS[4], "*"))
    if fields.day.values[0] > max(_LONGEST[month - 1] for month in fields.month.values):
        return fields._replace(day=every_day)
    return fields


def read_field(kind: Kind, text: str) -> Field:
    """Read one field. Raises SpecError that says what is wrong and what is allowed."""
    terms = sorted({_read_term(kind, term) for term in text.split(",")})
    values = tuple(sorted({value for term in terms for value in term.values}))
    fixed = all(term.text.isdigit() for term in terms)
    full = len(values) == kind.size
    return Field("*" if full and not fixed else ",".join(term.text for term in terms), values, fixed, full)


def _read_term(kind: Kind, term: str) -> Term:
    match = _TERM.fullmatch(term)
    if not match:
        raise SpecError(
            f"{kind.name} {term!r} cannot be read; it takes *, {kind.allowed()}, a range a-b, each with /step,"
            " and lists of these"
        )
    step = int(match["step"] or 1)
    if not 1 <= step <= kind.size:
        raise SpecError(f"the step of {kind.name} {term!r} is out of range; take 1 to {kind.size}")
    low = kind.number(match["low"]) if match["low"] else kind.first
    high = _end_of_term(kind, term, low, match["high"], single=bool(match["low"] and not match["step"]))
    values = tuple((value - kind.first) % kind.size + kind.first for value in range(low, high + 1, step))
    return Term(values, _NUMBER.sub(lambda number: str(int(number[0])), term))


def _end_of_term(kind: Kind, term: str, low: int, high: str | None, *, single: bool) -> int:
    """Return the last number of a term; a range that wraps ends beyond the field."""
    last = kind.first + kind.size - 1
    end = kind.number(high) if high else low if single else last
    if end >= low:
        return end
    if not kind.names:
        raise SpecError(f"the range of {kind.name} {term!r} runs backwards; write {low}-{last},{kind.first}-{end}")
    return end + kind.size
