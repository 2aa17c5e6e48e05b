"""What was done, line by line: each handler writes one as its last act. The demo holds the schedule against it."""

import json
import time
from dataclasses import asdict, dataclass, field
from datetime import datetime, timedelta

from redis import Redis

KEY = "shop:journal"
KEEP = timedelta(hours=1)


@dataclass(frozen=True)
class Line:
    """One handler came to its end.

    ``handler`` is the listener's name, or the entry's for a job. ``fire`` is the fire id, which is the envelope's id
    too. ``instant`` is when it was due (ISO 8601), ``at`` when it was done, in seconds since 1970.
    """

    handler: str
    fire: str
    instant: str
    at: float = field(default_factory=time.time)

    @property
    def run(self) -> tuple[str, str]:
        """The fire and its handler: what must not occur twice."""
        return self.fire, self.handler

    @property
    def due(self) -> datetime:
        return datetime.fromisoformat(self.instant)


@dataclass(frozen=True)
class Journal:
    """A list in a Valkey."""

    client: Redis

    def write(self, handler: str, fire: str, instant: datetime) -> None:
        line = Line(handler, fire, instant.isoformat())
        with self.client.pipeline() as pipeline:
            pipeline.rpush(KEY, json.dumps(asdict(line)))
            pipeline.expire(KEY, KEEP)
            pipeline.execute()

    def lines(self, start: int = 0) -> list[Line]:
        """Return the lines from the one with the number ``start`` on."""
        return [Line(**json.loads(text)) for text in self.client.lrange(KEY, start, -1)]
