"""Made-up times, as a test writes them.

====================================  ==========================================
an aware ``datetime``                 itself
``2026-10-25T01:30+02:00``            ISO 8601 with its offset, or with ``Z``
``2026-10-25T01:30 Europe/Budapest``  what the wall shows in that zone
====================================  ==========================================

A wall time that is jumped over, or that comes twice, is refused: nobody can tell which instant it is. The offset tells
the two apart, as in ``2026-10-25T02:30+01:00``. It may stand beside the zone, which is then checked.
"""

from datetime import UTC, datetime, tzinfo

from celery_leased_beat.fires import from_milliseconds, to_milliseconds
from celery_leased_beat.timing import to_utc, to_zone

Moment = datetime | str

_FORMS = "such as '2026-10-25T01:30+02:00' or '2026-10-25T01:30 Europe/Budapest'"


def to_instant(moment: Moment) -> datetime:
    """Return the instant that ``moment`` means, in UTC and cut to the millisecond. Raises ``ValueError``."""
    if not isinstance(moment, datetime | str):
        raise ValueError(f"{moment!r} is no instant; give an aware datetime or a text {_FORMS}")
    try:
        instant = to_utc(moment) if isinstance(moment, datetime) else _read(moment)
    except OverflowError:
        raise ValueError(f"{moment!r} is no instant: in UTC it lies beyond the calendar") from None
    return from_milliseconds(to_milliseconds(instant))


def _read(text: str) -> datetime:
    written, zone = _parse(text), None
    if written is None:  # the date may be parted from the time by a space too, so the zone is what does not fit
        rest, _, name = text.rpartition(" ")
        written, zone = _parse(rest), to_zone(name) if rest else None
    if written is None:
        raise ValueError(f"{text!r} is no instant; write it {_FORMS}")
    if zone is None and written.utcoffset() is None:
        raise ValueError(f"{text!r} has no offset and no zone; write it with an offset or with a zone, {_FORMS}")
    return to_utc(written) if zone is None else _in_zone(text, written, zone)


def _parse(text: str) -> datetime | None:
    """Return what ISO text says, None for other text. Raises ``ValueError`` for a date or a time that there is not."""
    try:
        return datetime.fromisoformat(text.strip())
    except ValueError as error:
        if str(error).startswith("Invalid isoformat string"):
            return None
        raise ValueError(f"{text.strip()!r} is no instant: {error}") from None


def _in_zone(text: str, written: datetime, zone: tzinfo) -> datetime:
    """Return when the wall of ``zone`` shows what is written; an offset that is written too has to be the zone's."""
    wall, offset = written.replace(tzinfo=None), written.utcoffset()
    passes = {wall.replace(tzinfo=zone, fold=fold).astimezone(UTC) for fold in (0, 1)}
    shown = sorted(instant for instant in passes if instant.astimezone(zone).replace(tzinfo=None) == wall)
    meant = [instant for instant in shown if offset in (None, instant.astimezone(zone).utcoffset())]
    if len(meant) == 1:
        return meant[0]
    if not shown:
        raise ValueError(f"{text!r}: there is no such time, the clock jumps over it")
    choices = " or ".join(instant.astimezone(zone).isoformat() for instant in shown)
    raise ValueError(f"{text!r}: {'it comes twice' if offset is None else 'that is not its offset'}; write {choices}")
