"""The lease: one key, whose value says who holds it.

::

    <token> <term> <client id> <run id> <replica: host, pid, version>

It is taken where it is free, renewed and released by comparing the token, and replaced by comparing the whole value.
Only the election's thread uses a :class:`Lease`, over one connection of its own; who only asks has a
:class:`LeaseReader`. A call that raises ``StoreError`` may have had its effect; sent again with the same token it is
answered as the first one would have been.
"""

import logging
import time
from datetime import timedelta
from typing import Protocol

from redis import Redis
from redis.exceptions import ResponseError

from celery_leased_beat.store.channel import Pooled, ask
from celery_leased_beat.store.clock import ServerClock
from celery_leased_beat.store.connection import Connection
from celery_leased_beat.store.keys import Keys
from celery_leased_beat.store.observation import (
    Held,
    Holder,
    Observation,
    known,
    number,
    observation,
    questions,
)
from celery_leased_beat.store.script import Scripts

logger = logging.getLogger(__name__)

#: How long a wake-up waits for a standby, in ms: longer than the pause between two waits on the list.
WAKE = 1000


class Wakeable(Protocol):
    """What can end a wait: readable once it was rung."""

    def fileno(self) -> int:
        """Return the descriptor."""


class Lease:
    """The lease of one namespace, for one thread. The settings allow no ``ttl`` of under a second."""

    def __init__(self, connection: Connection, keys: Keys, ttl: timedelta, clock: ServerClock) -> None:
        self._connection = connection
        self._keys = keys
        self._ttl = ttl // timedelta(milliseconds=1)
        self._clock = clock
        self._scripts = Scripts(connection, clock)
        self._seen: Holder | None = None

    @property
    def connected(self) -> bool:
        """Whether the connection is open, as far as is known."""
        return self._connection.is_open

    def acquire(self, token: str, replica: str) -> Held | None:
        """Take the lease where it is free or already this token's; None where another has it."""
        return self._take(token, replica)

    def replace(self, token: str, replica: str, seen: str) -> Held | None:
        """Take the lease where its whole value is still ``seen``, or as :meth:`acquire` does."""
        return self._take(token, replica, seen)

    def renew(self, token: str, replica: str) -> Held | None:
        """Let the TTL begin again where the lease is still this token's; None where it is lost."""
        with self._connection.call() as client_id:
            keys = [self._keys.lease, self._keys.term]
            answer = self._scripts.run("renew", keys, [token, self._ttl, client_id, replica])
        return Held(int(answer[0]), known(answer[1])) if answer else None

    def release(self, token: str) -> bool:
        """Free the lease where it is still this token's, and wake one standby; return whether it was."""
        with self._connection.call():
            keys = [self._keys.lease, self._keys.wake]
            (was_ours,) = self._scripts.run("release", keys, [token, WAKE])
        return bool(was_ours)

    def wait_for_wake(self, wait: float) -> None:
        """Wait until a holder releases the lease and wakes us, for ``wait`` seconds at most.

        A server that refuses to let us wait on the list is waited for without it.
        """
        wait = max(wait, 0.001)  # 0 would wait for ever
        (reply,) = self._connection.execute([("BLPOP", self._keys.wake, f"{wait:.3f}")], timedelta(seconds=wait))
        if isinstance(reply, ResponseError):
            logger.debug("the lease's server refused to wait: %s", reply)
            time.sleep(wait)

    def observe(self) -> Observation:
        """Look at the lease, its holder's connection and the server, in one round trip."""
        asked = self._seen
        sent = self._clock.elapsed()
        replies = self._connection.execute(questions(self._keys.lease, self._keys.term, asked))
        received = self._clock.elapsed()
        found = observation(replies, asked)
        if found.at is not None:
            self._clock.observe(sent, received, found.at)
        self._seen = found.holder
        return found

    def wait(self, wait: float, waker: Wakeable) -> bool:
        """Sleep for ``wait`` seconds or until ``waker`` is rung; return whether the connection broke meanwhile."""
        return self._connection.wait(wait, waker.fileno())

    def close(self) -> None:
        """Close the connection; it never connects. The next call opens a new one."""
        self._connection.close()

    def _take(self, token: str, replica: str, *seen: str) -> Held | None:
        keys = [self._keys.lease, self._keys.term, self._keys.wake]
        with self._connection.call() as client_id:
            answer = self._scripts.run("acquire", keys, [token, self._ttl, client_id, replica, *seen])
        if not answer:
            return None
        term, run_id, previous, previous_run_id = answer
        return Held(int(term), known(run_id), number(previous), known(previous_run_id))


class LeaseReader:
    """Looks at the lease of one namespace without competing for it."""

    def __init__(self, client: Redis, keys: Keys) -> None:
        self._channel = Pooled(client)
        self._key = keys.lease

    def read(self) -> tuple[str | None, timedelta]:
        """Return its value, None where it is free, and how long it lasts unless renewed. Raises ``StoreError``."""
        value, ttl = ask(self._channel, ("GET", self._key), ("PTTL", self._key))
        return value, timedelta(milliseconds=max(0, ttl))
