"""The one custom header of our messages, ``leased_beat``: where a message comes from, and which delivery it is.

``delivery`` is new for every publish. A redelivery and a retry keep it, a second publish of one fire has another, so
that the marker can tell. A message without the header (``celery call``) has an empty delivery id, and it runs.

============  =====================================================================
delivery      a UUID4
fire, entry   the fire id and the entry's name
instant       ISO 8601, UTC
term          the number of the term that claimed the fire
namespace     of the lease
envelope      instead of those five: the envelope's id, in what a fan-out sends
unknown       since when no worker knows the task (ISO 8601), see ``unknown``
============  =====================================================================
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import uuid4

from celery.app.task import Context

from celery_leased_beat.engine import Intent
from celery_leased_beat.fires import Fire
from celery_leased_beat.schedule.checks import HEADER as HEADER


@dataclass(frozen=True, slots=True)
class Origin:
    """What the header of a message says of it; all empty where it has none."""

    delivery: str = ""
    fire: str | None = None
    entry: str | None = None
    instant: datetime | None = None
    term: int | None = None


def fire_header(intent: Intent, namespace: str, *, delivery: str) -> dict[str, Any]:
    """Return the headers of the message that enqueues the fire of ``intent``."""
    fire = intent.fire
    return {
        HEADER: {
            "delivery": delivery,
            "fire": fire.id,
            "entry": fire.entry,
            "instant": fire.instant.isoformat(),
            "term": intent.term,
            "namespace": namespace,
        }
    }


def envelope_header(envelope: str) -> dict[str, Any]:
    """Return the headers of a message on the way of the envelope with this id; each call is a delivery of its own."""
    return {HEADER: {"delivery": str(uuid4()), "envelope": envelope}}


def origin_of(request: Context) -> Origin:
    """Return where the message of ``request`` comes from."""
    header = (request.headers or {}).get(HEADER)
    if not isinstance(header, Mapping):
        return Origin()
    instant = header.get("instant")
    return Origin(
        delivery=str(header.get("delivery", "")),
        fire=header.get("fire"),
        entry=header.get("entry"),
        instant=datetime.fromisoformat(instant) if instant else None,
        term=header.get("term"),
    )


def fire_of(request: Context, name: str, now: datetime) -> Fire:
    """Return the fire that ``request`` runs; of a message that no scheduler sent, one of ``name`` at ``now``."""
    origin = origin_of(request)
    return Fire(
        id=origin.fire or str(request.id),
        entry=origin.entry or name,
        instant=origin.instant or now,
        attempt=request.retries + 1,
    )
