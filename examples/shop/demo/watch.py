"""What the lease shows to somebody who only looks."""

import time
from dataclasses import dataclass
from threading import Event, Thread
from typing import Self

from redis import Redis

from celery_leased_beat.store import Holder, Keys

#: Seconds between two looks at the lease; no measured takeover is more precise.
PERIOD = 0.005


@dataclass(frozen=True)
class Tenure:
    """A term of the lease as seen from outside: its number, who has it, and when that was first seen (monotonic)."""

    term: int
    pid: int
    seen_at: float


class Watch:
    """Looks at the lease from a thread of its own."""

    def __init__(self, client: Redis, keys: Keys) -> None:
        self.tenures: list[Tenure] = []
        self.held = False
        self._client = client
        self._key = keys.lease
        self._over = Event()
        self._thread = Thread(target=self._look, name="watch", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    @property
    def holder(self) -> Tenure | None:
        """Who holds the lease now."""
        return self.tenures[-1] if self.tenures and self.held else None

    def after(self, tenure: Tenure) -> Tenure | None:
        """Return the term that followed ``tenure``, None while there is none."""
        return next((later for later in self.tenures if later.term > tenure.term), None)

    def _look(self) -> None:
        while not self._over.wait(PERIOD):
            value = self._client.get(self._key)
            self.held = value is not None
            if value is not None:
                self._note(Holder.parse(str(value)))

    def _note(self, holder: Holder) -> None:
        if not self.tenures or self.tenures[-1].term < holder.term:
            self.tenures.append(Tenure(holder.term, _pid(holder.replica), time.monotonic()))


def _pid(replica: str) -> int:
    return int(replica.split(":")[1].split()[0])
