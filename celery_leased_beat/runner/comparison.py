"""Replicas with different schedules: told once, by the holder and by each standby that differs from it."""

import logging
from contextlib import suppress

from celery_leased_beat.binding.outline import Outline
from celery_leased_beat.election import Seen
from celery_leased_beat.errors import StoreError
from celery_leased_beat.store import Member, RollReader

logger = logging.getLogger(__name__)


class Comparison:
    """Compares the schedule with this ``outline`` to those of the others on the roll."""

    def __init__(self, outline: Outline, reader: RollReader) -> None:
        self._outline = outline
        self._reader = reader
        self._told: set[tuple[str, str]] = set()

    def look(self, seen: Seen) -> None:
        """Tell of each schedule that differs and was not told of: a standby of the holder's, the holder of any."""
        holder = max((seen.own, *seen.others), key=lambda member: member.term)
        if not holder.term:
            return
        for other in seen.others if holder is seen.own else (holder,):
            what = (other.digest, other.version)
            if other.digest != seen.own.digest and what not in self._told:
                self._told.add(what)
                self._tell(seen.own, other)

    def _tell(self, own: Member, other: Member) -> None:
        # Who holds the lease may change with this very line, so it does not say.
        logger.warning(
            "the schedule differs from that of %s: %s (here %s; there %s); only the holder's is served",
            other.replica,
            self._difference(other),
            _described(own),
            _described(other),
        )

    def _difference(self, other: Member) -> str:
        with suppress(StoreError, ValueError, TypeError, RecursionError):
            text = self._reader.outline(other.digest)
            if text is not None:
                return self._outline.compare(Outline.parse(text))
        return "what differs is not known"


def _described(member: Member) -> str:
    version = f"version {member.version}" if member.version else "no leased_beat_version"
    return f"{version}, {member.entries} entries, digest {member.digest}"
