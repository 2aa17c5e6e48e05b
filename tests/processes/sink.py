"""What the workers received, kept in a Valkey that no test harms."""

import json
import os
import time
from dataclasses import asdict, dataclass, field
from datetime import datetime

import redis

KEY = "sink"
#: For how many seconds a handler waits for a gate: longer than any test waits for a condition.
GATE = 300


@dataclass(frozen=True)
class Row:
    """One handler's run: ``id`` is the fire's (the envelope's), ``instant`` aware, ``at`` seconds since 1970."""

    handler: str
    entry: str
    id: str
    instant: str
    done: bool = True
    attempt: int = 1
    at: float = field(default_factory=time.time)
    pid: int = field(default_factory=os.getpid)

    @property
    def due(self) -> datetime:
        return datetime.fromisoformat(self.instant)


class Sink:
    """A list of rows in the Valkey at ``url``."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.client = redis.Redis.from_url(url, decode_responses=True)
        self._read: list[Row] = []

    def record(self, row: Row) -> None:
        self.client.rpush(KEY, json.dumps(asdict(row)))

    def rows(self) -> list[Row]:
        """All rows, in the order in which they came."""
        self._read += [Row(**json.loads(text)) for text in self.client.lrange(KEY, len(self._read), -1)]
        return list(self._read)

    def done(self, handler: str | None = None) -> list[Row]:
        """The rows of runs that came to their end, of one handler or of all."""
        return [row for row in self.rows() if row.done and handler in (None, row.handler)]

    def open(self, gate: str) -> None:
        """Let one handler go on that waits for ``gate``, now or later."""
        self.client.rpush(f"gate:{gate}", "open")

    def wait_for(self, gate: str) -> None:
        """Wait until ``gate`` is opened."""
        self.client.blpop([f"gate:{gate}"], GATE)

    def count(self, name: str) -> int:
        """Count one call, over all processes, and return how many there were."""
        return int(self.client.incr(f"count:{name}"))
