"""The zone of this host, for time zones that do not know their own name.

``enable_utc = False`` without a ``timezone`` makes Celery work in local time, with a zone object that has no name or
one that no other machine knows. A timing's key has its zone's name in it, so such a zone is looked up by what it does.
"""

import os
from datetime import datetime, timedelta, timezone, tzinfo
from pathlib import Path
from zoneinfo import ZoneInfo

from celery_leased_beat.errors import SpecError
from celery_leased_beat.timing.zones import to_zone

#: Where a zone is compared with another: twice a month at noon, over some years in which the rules of today hold.
_PROBES = [datetime(2030, 1, 1, 12) + timedelta(days=15 * number) for number in range(100)]


def to_named_zone(zone: tzinfo) -> tzinfo:
    """Return ``zone`` by a name that means the same everywhere.

    One without such a name becomes the host's zone where it does the same, else an offset where it has only one.
    Raises SpecError for another.
    """
    try:
        return to_zone(zone)
    except SpecError:
        host = zone_of_host()
        if host is not None and all(_offset(zone, wall) == _offset(host, wall) for wall in _PROBES):
            return host
        offsets = {_offset(zone, wall) for wall in _PROBES}
        if len(offsets) > 1:
            raise
        return timezone(offsets.pop())


def zone_of_host() -> ZoneInfo | None:
    """Return the zone in which this host shows its time, None where its name cannot be found out.

    From the variable ``TZ``, else from where ``/etc/localtime`` leads, else from ``/etc/timezone``.
    """
    if "TZ" in os.environ:
        return _zone(os.environ["TZ"].removeprefix(":"))
    return _zone(os.path.realpath("/etc/localtime")) or _zone(_text(Path("/etc/timezone")))


def _offset(zone: tzinfo, wall: datetime) -> timedelta:
    """Ask with a wall time: of zone objects that people write, the way there from UTC is the less reliable one."""
    return wall.replace(tzinfo=zone).utcoffset() or timedelta(0)


def _zone(name: str) -> ZoneInfo | None:
    """Return the zone of that name, or of the file of that path in a zone database."""
    name = name.rpartition("/zoneinfo/")[2].removeprefix("posix/").removeprefix("right/")
    try:
        return ZoneInfo(name) if name else None
    except (LookupError, ValueError, OSError):
        return None


def _text(file: Path) -> str:
    try:
        return file.read_text().strip()
    except OSError:
        return ""
