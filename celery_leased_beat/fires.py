"""A fire and the ids that follow from it.

Identity is data: a fire is (entry, instant), and its id is the same on every replica, for ever. The formula::

    fire id     = UUIDv5(NAMESPACE, "<len>:<namespace><len>:<entry><len>:<milliseconds>")
    listener id = UUIDv5(NAMESPACE, "<len>:<envelope id><len>:<listener>")

Each part carries its length in characters, so that no two lists of parts give one string. Milliseconds are whole
ones since 1970-01-01T00:00Z.
"""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from uuid import UUID, uuid5

#: The UUID under which all ids of this package are made. Never change it: it would make every fire a new one.
NAMESPACE = UUID("6f0d3f0e-5c1b-5d7e-9a53-2b1c0c9a7e41")

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND = timedelta(milliseconds=1)


@dataclass(frozen=True, slots=True)
class Fire:
    """One due time of one entry, as a handler sees it.

    ``id`` is the fire id, ``instant`` an aware UTC datetime exact to the millisecond, ``attempt`` counts the tries of
    the handler from 1.
    """

    id: str
    entry: str
    instant: datetime
    attempt: int = 1


def fire_id(namespace: str, entry: str, instant: datetime) -> str:
    """Return the id of the fire of ``entry`` at ``instant`` (aware) under ``namespace``."""
    return _id(namespace, entry, str(to_milliseconds(instant)))


def listener_id(envelope: str, listener: str) -> str:
    """Return the task id of the message that carries ``envelope`` (its id) to ``listener`` (its name)."""
    return _id(envelope, listener)


def to_milliseconds(instant: datetime) -> int:
    """Return the whole milliseconds from 1970-01-01T00:00Z to ``instant`` (aware), rounded down."""
    return (instant - _EPOCH) // _MILLISECOND


def from_milliseconds(milliseconds: int) -> datetime:
    """Return the aware UTC datetime that lies ``milliseconds`` after 1970-01-01T00:00Z."""
    return _EPOCH + milliseconds * _MILLISECOND


def _id(*parts: str) -> str:
    return str(uuid5(NAMESPACE, "".join(f"{len(part)}:{part}" for part in parts)))
