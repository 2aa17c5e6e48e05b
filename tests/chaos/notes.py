"""What the workers did, in their own words: a note per step of a run, kept in a Valkey that no fault touches."""

import json
import os
import time
from dataclasses import asdict, dataclass, field
from datetime import datetime
from enum import StrEnum

import redis

KEY = "notes"


class What(StrEnum):
    """BEGUN and ENDED are the first and the last line of a body. OVER is written when the marker says ``done``."""

    BEGUN = "begun"
    ENDED = "ended"
    OVER = "over"


@dataclass(frozen=True)
class Note:
    """``task`` is the task id, ``at`` seconds since 1970, ``parent`` the worker of the pool process ``pid``."""

    what: str
    task: str
    handler: str = ""
    entry: str = ""
    fire: str = ""
    instant: str = ""
    at: float = field(default_factory=time.time)
    pid: int = field(default_factory=os.getpid)
    parent: int = field(default_factory=os.getppid)

    @property
    def due(self) -> datetime:
        return datetime.fromisoformat(self.instant)


class Notebook:
    """All notes, in the order in which they came."""

    def __init__(self, url: str) -> None:
        self._client = redis.Redis.from_url(url, decode_responses=True)
        self._read: list[Note] = []

    def write(self, note: Note) -> None:
        self._client.rpush(KEY, json.dumps(asdict(note)))

    def notes(self) -> list[Note]:
        self._read += [Note(**json.loads(text)) for text in self._client.lrange(KEY, len(self._read), -1)]
        return list(self._read)
