"""Who holds the lease, and when the next instant is: what a fault is aimed at. It bears with a server that is away."""

import re
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from random import Random

import redis

from celery_leased_beat.store import Keys
from tests.chaos.evidence import Elected
from tests.chaos.programme import AIMED, SECOND, entries_of

#: Seconds to wait for an answer: the driver goes on without one.
PATIENCE = 0.2
#: Seconds between two looks: a term is seldom shorter.
PERIOD = 0.03


class Watch:
    """Looks at the lease's server from outside of all faulty paths.

    ``elected`` is what it has seen, by a thread of its own; ``tell`` is told what is new.
    """

    def __init__(self, url: str, keys: Keys, tell: Callable[[Elected], None]) -> None:
        self._client = redis.Redis.from_url(
            url, decode_responses=True, socket_timeout=PATIENCE, socket_connect_timeout=PATIENCE
        )
        self._keys = keys
        self._instant: datetime | None = None
        self.elected: list[Elected] = []
        self._tell = tell
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._follow, daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._over.set()
        self._thread.join()

    def _follow(self) -> None:
        while not self._over.wait(PERIOD):
            found = self._look()
            if found is not None and (not self.elected or found[1:] != self.elected[-1][1:]):
                self.elected.append(found)
                self._tell(found)

    def holder(self) -> int | None:
        """The process that the lease names; None where there is none or no answer."""
        found = self._look()
        return found.pid if found else None

    def aim(self, draw: Random, spread: float) -> None:
        """Wait for the next instant of the entry that is aimed at, give or take ``spread`` seconds."""
        with suppress(redis.RedisError):
            key = entries_of(1)[AIMED].timing.key
            value = self._client.hget(self._keys.state, f"{len(AIMED)}:{AIMED}:{key}")
            if value:
                self._instant = datetime.fromtimestamp(int(str(value).split()[0]) / 1000, UTC)
        if self._instant is not None:
            into = (time.time() - self._instant.timestamp()) % SECOND.total_seconds()
            time.sleep(max(0.0, SECOND.total_seconds() - into + draw.uniform(-spread, spread)))

    def _look(self) -> Elected | None:
        try:
            value = self._client.get(self._keys.lease)
        except redis.RedisError:
            return None
        found = re.match(r"\S+ (\d+) \S+ \S+ \S+:(\d+)\b", str(value or ""))
        return Elected(time.time(), int(found[1]), int(found[2])) if found else None
