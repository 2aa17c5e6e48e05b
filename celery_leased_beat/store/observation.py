"""What the lease's key and its server say, as values."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Self

from celery_leased_beat.errors import StoreError
from celery_leased_beat.store.clock import instant
from celery_leased_beat.store.rights import note_refusal


@dataclass(frozen=True, slots=True)
class Held:
    """The lease is ours.

    ``run_id`` names the run of the server process. ``previous_term`` and ``previous_run_id`` belong to the lease before
    this one, 0 and None where the server knows of none. None stands also for what the server does not say.
    """

    term: int
    run_id: str | None
    previous_term: int = 0
    previous_run_id: str | None = None


@dataclass(frozen=True, slots=True)
class Holder:
    """Who holds a lease, by its value. A foreign value gives its first word as token, term 0 and nothing else."""

    token: str
    term: int = 0
    client_id: str | None = None
    run_id: str | None = None
    replica: str = ""

    @classmethod
    def parse(cls, value: str) -> Self:
        """Read a lease's value."""
        words = value.split(" ", 4)
        if len(words) < 5 or not words[1].isdecimal():
            return cls(words[0])
        return cls(words[0], int(words[1]), known(words[2]), known(words[3]), words[4])


@dataclass(frozen=True, slots=True)
class Observation:
    """One look at the lease.

    ``value`` is its whole value, None where it is free. ``term`` is the last term that the server knows of, 0 for
    none, and ``last_run_id`` the run of the server on which its holder last was, None where that is not known.
    ``listed`` says whether the holder's connection is among the server's, None where that is not known. ``at`` is the
    server's time.
    """

    value: str | None
    term: int
    run_id: str | None
    listed: bool | None
    at: datetime | None
    last_run_id: str | None = None

    @property
    def moved(self) -> bool:
        """Whether the server was restarted or replaced since there last was a holder, as far as is known."""
        return None not in (self.run_id, self.last_run_id) and self.run_id != self.last_run_id

    @property
    def holder(self) -> Holder | None:
        """Who holds the lease."""
        return None if self.value is None else Holder.parse(self.value)


def questions(lease: str, term: str, asked: Holder | None) -> list[Sequence[str | int]]:
    """Return the commands of one look at the keys ``lease`` and ``term``, and at the connection of ``asked``."""
    client = asked.client_id if asked else None
    listing = ("CLIENT", "LIST", "ID", client) if client else ("TIME",)
    return [("GET", lease), ("GET", term), ("INFO", "server"), ("TIME",), listing]


def observation(replies: Sequence[Any], asked: Holder | None) -> Observation:
    """Return what the replies to :func:`questions` say. A refused one says nothing, but that of the lease is needed."""
    value, last, info, time, listing = replies
    if not isinstance(value, str | None):
        raise StoreError(f"the lease's server does not show the lease: {value}")
    note_refusal(info, "INFO")
    if asked and asked.client_id:
        note_refusal(listing, "CLIENT")
    run_id = _run_id(info)
    last_term, last_run_id = _last(last)
    looked = value is not None and Holder.parse(value) == asked
    return Observation(
        value=value,
        term=last_term,
        run_id=run_id,
        listed=_is_listed(listing, asked, run_id) if asked and looked else None,
        at=instant(time) if isinstance(time, list) else None,
        last_run_id=last_run_id,
    )


def known(text: str) -> str | None:
    """Return ``text``, None for the "-" that stands for what is not known."""
    return None if text == "-" else text


def number(text: str) -> int:
    """Return the number in ``text``, 0 where there is none."""
    return int(text) if text.isdecimal() else 0


def _is_listed(listing: Any, holder: Holder, run_id: str | None) -> bool | None:
    """Return whether ``listing`` shows the holder; ids are of one run of the server only."""
    if not isinstance(listing, str) or run_id is None or holder.run_id != run_id:
        return None
    return listing.startswith(f"id={holder.client_id} ")


def _last(last: Any) -> tuple[int, str | None]:
    """Return the last term and its run, as ``acquire.lua`` and ``renew.lua`` keep them."""
    term, run_id, *_ = [*last.split(" "), "-"] if isinstance(last, str) else ("", "-")
    return number(term), known(run_id)


def _run_id(info: Any) -> str | None:
    lines = dict(line.split(":", 1) for line in info.splitlines() if ":" in line) if isinstance(info, str) else {}
    return lines.get("run_id")
