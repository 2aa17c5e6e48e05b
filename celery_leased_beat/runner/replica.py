"""One replica at work: its parts, put together.

Two threads work on it. The election's thread holds or contends for the lease, and alone talks about it to the server.
The caller's thread runs the turns. They share the trust, which the one writes and the other reads, and a waker that
ends the caller's wait.
"""

import logging
import os
import socket
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from uuid import uuid4

from celery import Celery

from celery_leased_beat.binding.outline import Outline
from celery_leased_beat.binding.served import Served
from celery_leased_beat.election import Election, Presence, Waker
from celery_leased_beat.engine import Engine
from celery_leased_beat.errors import StoreError
from celery_leased_beat.publisher import Publisher
from celery_leased_beat.runner.comparison import Comparison
from celery_leased_beat.settings import Settings
from celery_leased_beat.store import (
    Keys,
    Lease,
    Ledger,
    Member,
    Roll,
    RollReader,
    ServerClock,
    connect,
    dedicated,
    eviction_policy,
)
from celery_leased_beat.version import __version__

logger = logging.getLogger(__name__)

#: Clocks that differ by more are worth a line: an operator reads both.
CLOCKS_APART = timedelta(seconds=1)
#: The wait after a turn that met an error of our own (seconds).
RETRY = 1.0


class Replica:
    """Election, engine and publisher of one process; made after any fork, in the process that uses it.

    Building one opens nothing and starts nothing. ``served`` is what it fires.
    """

    def __init__(self, app: Celery, served: Served, settings: Settings) -> None:
        self.waker = Waker()
        ttl = settings.lease_ttl
        keys = Keys(settings.namespace)
        self._longest = ttl.total_seconds() / 3
        self._clock = ServerClock()
        replica = f"{socket.gethostname()}:{os.getpid()} {__version__}"
        client = connect(settings.backend_url, options=settings.transport_options, timeout=ttl / 3, key=keys.lease)
        lease_client = dedicated(
            settings.backend_url, options=settings.transport_options, timeout=ttl / 3, key=keys.lease
        )
        lease = Lease(lease_client, keys, ttl, self._clock)
        entries = served.entries.values()
        outline = Outline.of(entries)
        own = Member(uuid4().hex, replica, 0 if served.empty else len(entries), outline.digest, settings.version or "")
        self._presence = Presence(Roll(lease_client, keys, self._clock), own, outline.text)
        self._comparison = Comparison(outline, RollReader(client, keys))
        self.election = Election(lease, replica, self._presence, ttl=ttl, on_change=self.waker.wake)
        self._publisher = Publisher(app, settings.namespace)
        ledger = Ledger(client, keys, self._clock, replica=replica)
        self._engine = Engine(
            entries, ledger, self._publisher, self.election, namespace=settings.namespace, clock=self._clock.now
        )
        self._client = client
        self._served = served
        self._apart = False
        self._failing = False
        self._blind = False
        self._eviction_known = False

    def start(self) -> None:
        """Say what is wrong with what is served, and begin to compete, or with an empty schedule to stand by."""
        self._served.report()
        if self._served.empty:
            logger.warning(
                "the schedule is empty: this replica never takes the lease; make a Schedule(app), and import the "
                "modules that write its entries, or let it autodiscover them"
            )
        self.election.start()

    def turn(self, longest: float) -> None:
        """Run one turn of the engine and wait until there is more to do, for ``longest`` seconds at most."""
        seconds = min(longest, self._longest, self._turn())
        self._look_around()
        self.waker.wait(seconds)

    def _turn(self) -> float:
        """Run one turn; return for how long to wait. An error of our own ends the turn, and never the process.

        A turn that fails is no progress: if that goes on, the lease goes to another replica.
        """
        try:
            wake = self._engine.turn(self._clock.now())
        except Exception:
            if not self._failing:
                logger.exception("a turn met an error of its own, it is tried again")
            self._failing = True
            return RETRY
        self._failing = False
        return self._longest if wake is None else (wake - self._clock.now()).total_seconds()

    def _look_around(self) -> None:
        """Say what an operator should know. An error of our own in that is said once, and is no reason not to fire."""
        try:
            self._compare_clocks()
            self._comparison.look(self._presence.seen)
            self._warn_of_eviction()
        except Exception:
            if not self._blind:
                logger.exception("what is around could not be looked at, this replica fires all the same")
            self._blind = True

    def _compare_clocks(self) -> None:
        ahead = self._clock.ahead_of(datetime.now(UTC))
        apart = abs(ahead) > CLOCKS_APART
        if apart and not self._apart:
            logger.warning(
                "the clock of the lease's server is %+.1f s from this host's; the server's counts",
                ahead.total_seconds(),
            )
        self._apart = apart

    def _warn_of_eviction(self) -> None:
        """Say once, with the first term, where the server may remove what is kept in it."""
        if self._eviction_known or self.election.term() is None:
            return
        with suppress(StoreError):
            policy = eviction_policy(self._client)
            self._eviction_known = True
            if policy is not None:
                logger.warning(
                    "the lease's server may evict what is kept in it (maxmemory-policy is %s): instants may be lost "
                    "or decided twice; set it to noeviction",
                    policy,
                )

    def close(self) -> None:
        """Close the connections of the caller's thread; the election closes its own."""
        self._publisher.close()
        self._client.close()
