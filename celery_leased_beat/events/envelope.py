"""The envelope: what is known of one event apart from the event itself."""

from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from celery_leased_beat.events.codec import read
from celery_leased_beat.events.converter import converter


@dataclass(frozen=True, slots=True)
class Envelope:
    """What a listener gets beside its event.

    ``id`` is the same for all listeners of one event; that of a scheduled event is its trigger's task id. ``name`` is
    the event's, ``payload`` its JSON, ``occurred_at`` an aware UTC datetime: the instant of a scheduled event, the time
    of the dispatch else. ``metadata`` is plain JSON.
    """

    id: str
    name: str
    payload: dict[str, Any]
    occurred_at: datetime
    metadata: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.occurred_at.utcoffset() is None:
            raise ValueError(f"an aware datetime expected, not {self.occurred_at!r}")
        object.__setattr__(self, "occurred_at", self.occurred_at.astimezone(UTC))

    def to_message(self) -> dict[str, Any]:
        """Return its JSON-ready form."""
        message: dict[str, Any] = converter().unstructure(self)
        return message

    @classmethod
    def from_message(cls, message: object) -> "Envelope":
        """Return the envelope that ``to_message`` wrote. Raises ``PayloadError`` for anything else."""
        return read(cls, message, "an envelope")
