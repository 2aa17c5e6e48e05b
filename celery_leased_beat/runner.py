"""Election, engine and publisher put together: the scheduler without beat.

Two threads work on one replica. The election's thread holds or contends for the lease and alone talks about it to the
server. The caller's thread runs the turns. They share the trust, which the one writes and the other reads, and a waker
that ends the caller's wait.
"""

import logging
import os
import socket
from datetime import UTC, datetime, timedelta

from celery import Celery

from celery_leased_beat.binding import schedule_for, settings_for
from celery_leased_beat.election import Election, Waker
from celery_leased_beat.engine import Engine
from celery_leased_beat.publisher import Publisher
from celery_leased_beat.schedule import ScheduleBuilder
from celery_leased_beat.settings import Settings, safe_url
from celery_leased_beat.store import Keys, Lease, Ledger, ServerClock, boottime, connect, dedicated

logger = logging.getLogger(__name__)

#: How long a stop may take, all calls of it together: a supervisor kills soon after it asked.
STOP_WITHIN = timedelta(seconds=2)
#: Clocks that differ by more are worth a line: an operator reads both.
CLOCKS_APART = timedelta(seconds=1)


class Runner:
    """Serves one app's schedule as one of N replicas.

    Building one opens nothing. ``run()`` serves until ``stop()`` is called from another thread or a signal handler.
    Raises ``SettingsError`` for a setting that cannot be used.
    """

    def __init__(self, app: Celery, schedule: ScheduleBuilder | None = None) -> None:
        self._app = app
        self._settings = settings_for(app)
        self._schedule = schedule or schedule_for(app)
        self._parts: _Parts | None = None
        self._stopped = False
        self._stop_deadline: float | None = None

    def info(self) -> dict[str, str]:
        """Return what the banner of ``celery beat`` shows of this replica, without touching a server."""
        settings = self._settings
        return {
            "lease": f"{safe_url(settings.backend_url)} {Keys(settings.namespace).lease}",
            "namespace": settings.namespace,
            "lease ttl": f"{settings.lease_ttl.total_seconds():g} s",
            "timezone": str(settings.timezone),
            "entries": str(len(self._schedule.entries)),
        }

    @property
    def stopped(self) -> bool:
        """Whether ``stop()`` was called."""
        return self._stopped

    def turn(self, longest: float) -> None:
        """Do what is due, then wait until more is, for ``longest`` seconds at most. The first turn starts the rest."""
        if self._stopped:
            return
        if self._parts is None:
            self._parts = _Parts(self._app, self._schedule, self._settings)
            self._parts.start()  # apart from the building, so that a signal in between finds what it has to stop
        self._parts.turn(longest)

    def run(self) -> None:
        """Serve until ``stop()`` is called."""
        try:
            while not self._stopped:
                self.turn(self._settings.lease_ttl.total_seconds())
        finally:
            self.stop()
            self.close()

    def stop(self) -> None:
        """Stop firing and release the lease, within two seconds for all calls together.

        May run in a signal handler on top of any frame of this object: it takes no lock and logs only afterwards.
        """
        self._stopped = True
        parts = self._parts
        if parts is None:
            return
        first = self._stop_deadline is None
        if self._stop_deadline is None:
            self._stop_deadline = boottime() + STOP_WITHIN.total_seconds()
        released = parts.election.stop(self._stop_deadline)
        parts.waker.wake()
        if first and not released:
            logger.warning("the lease could not be released in time, it ends by its TTL")

    def close(self) -> None:
        """Close the connections. Not for signal handlers: the process's end closes them there."""
        if self._parts is not None:
            self._parts.close()


class _Parts:
    """What a running replica is made of; made in the process and after the fork that uses it."""

    def __init__(self, app: Celery, schedule: ScheduleBuilder, settings: Settings) -> None:
        self.waker = Waker()
        ttl = settings.lease_ttl
        keys = Keys(settings.namespace)
        self._longest = ttl.total_seconds() / 3
        self._clock = ServerClock()
        replica = f"{socket.gethostname()}:{os.getpid()}"
        client = connect(settings.backend_url, options=settings.transport_options, timeout=ttl / 3)
        lease_client = dedicated(settings.backend_url, options=settings.transport_options, timeout=ttl / 3)
        lease = Lease(lease_client, keys, ttl, self._clock)
        self.election = Election(lease, replica, ttl=ttl, on_change=self.waker.wake)
        self._publisher = Publisher(app, settings.namespace)
        entries = [entry.resolved(settings.timezone) for entry in schedule.entries.values()]
        ledger = Ledger(client, keys, self._clock, replica=replica)
        self._engine = Engine(entries, ledger, self._publisher, self.election, namespace=settings.namespace)
        self._client = client
        self._empty = not entries
        self._apart = False

    def start(self) -> None:
        if self._empty:
            logger.warning("the schedule is empty: this replica never takes the lease")
        else:
            self.election.start()

    def turn(self, longest: float) -> None:
        seconds = min(longest, self._longest)
        wake = self._engine.turn(self._clock.now())
        if wake is not None:
            seconds = min(seconds, (wake - self._clock.now()).total_seconds())
        self._compare_clocks()
        self.waker.wait(seconds)

    def _compare_clocks(self) -> None:
        ahead = self._clock.ahead_of(datetime.now(UTC))
        apart = abs(ahead) > CLOCKS_APART
        if apart and not self._apart:
            logger.warning(
                "the clock of the lease's server is %+.1f s from this host's; the server's counts",
                ahead.total_seconds(),
            )
        self._apart = apart

    def close(self) -> None:
        self._publisher.close()
        self._client.close()
