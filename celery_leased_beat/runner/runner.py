"""The scheduler without beat, for any Python process: what ``Scheduler`` and the worker's step are thin users of."""

import atexit
import logging
import signal
import threading
from collections.abc import Mapping
from datetime import timedelta
from typing import Self

from celery import Celery

from celery_leased_beat.binding import Schedule, real_app, schedule_for, settings_for
from celery_leased_beat.binding.outline import Outline
from celery_leased_beat.binding.served import served
from celery_leased_beat.engine import Term
from celery_leased_beat.errors import ScheduleError
from celery_leased_beat.runner.replica import Replica
from celery_leased_beat.schedule import Entry
from celery_leased_beat.settings import safe_url
from celery_leased_beat.store import Keys, address, boottime
from celery_leased_beat.tasks.compat import AnyApp

logger = logging.getLogger(__name__)

#: How long a stop may take, all calls of it together: a supervisor kills soon after it asked.
STOP_WITHIN = timedelta(seconds=2)
#: The signals by which a process is asked to end.
_ENDING = (signal.SIGTERM, signal.SIGINT)


class Runner:
    """Serves one app's schedule, and its ``beat_schedule``, as one of N replicas. It serves once.

    ``schedule`` is the app's own where it is not given, and bound to the app where it is. Building a runner opens
    nothing. ``run()`` serves until ``stop()`` is called from another thread or a signal handler. Raises
    ``SettingsError`` for a setting that cannot be used, ``ScheduleError`` for a job without a handler and where the app
    has another Schedule, and its ``DuplicateNameError`` for a name that is taken twice.
    """

    def __init__(self, app: AnyApp, schedule: Schedule | None = None) -> None:
        self._app = app = real_app(app)
        self._settings = settings_for(app)
        address(self._settings.backend_url, self._settings.transport_options)  # which is used with the first turn only
        self._schedule = schedule_for(app) if schedule is None else _bound(schedule, app)
        self._served = served(app, self._schedule, self._settings)
        self._replica: Replica | None = None
        self._stopped = False
        self._stop_deadline: float | None = None
        self._last_term: Term | None = None
        self._reported = False
        self._thread: threading.Thread | None = None
        self._began = False

    def info(self) -> dict[str, str]:
        """Return what the banner of ``celery beat`` shows of this replica, without touching a server."""
        settings = self._settings
        return {
            "lease": f"{safe_url(settings.backend_url)} {Keys(settings.namespace).lease}",
            "namespace": settings.namespace,
            "lease ttl": f"{settings.lease_ttl.total_seconds():g} s",
            "timezone": str(settings.timezone),
            "digest": Outline.of(self._served.entries.values()).digest,
            **({"version": settings.version} if settings.version else {}),
            "entries": self._served.count(),
        }

    @property
    def entries(self) -> Mapping[str, Entry]:
        """The entries that are served, by name."""
        return self._served.entries

    @property
    def empty(self) -> bool:
        """Whether there is nothing to serve."""
        return self._served.empty

    @property
    def stopped(self) -> bool:
        """Whether ``stop()`` was called."""
        return self._stopped

    def turn(self, longest: float) -> None:
        """Do what is due, then wait until more is, for ``longest`` seconds at most. The first turn starts the rest."""
        if self._stopped:
            return
        if self._replica is None:
            if not self._began:  # beat, which has added some meanwhile
                self._served = served(self._app, self._schedule, self._settings)
            self._replica = Replica(self._app, self._served, self._settings)
            if self._stopped:  # by now
                return
            self._replica.start()  # apart from the building, so that a signal in between finds what it has to stop
        self._replica.turn(longest)

    def run(self, *, signals: bool = False) -> None:
        """Serve until ``stop()`` is called; with ``signals`` (main thread only) SIGTERM and SIGINT call it.

        Imports the app's modules first, as ``celery beat`` and workers do, and raises what these raise, and for the
        schedule what building a runner does. Raises ``RuntimeError`` the second time.
        """
        self._begin()
        self._serve(signals=signals)

    def start(self) -> None:
        """Serve as ``run()`` does, in a thread of its own, which ``stop()`` ends; also ``with Runner(app): ...``."""
        self._begin()
        self._thread = threading.Thread(target=self._serve, name="leased-beat-runner", daemon=True)
        self._thread.start()
        atexit.register(self.stop)

    def _begin(self) -> None:
        if self._began:
            raise RuntimeError("a Runner serves once; make another one")
        if not self._app.loader.worker_initialized:
            self._app.loader.import_default_modules()
            self._schedule = schedule_for(self._app)  # which one of the modules may have made
        self._served = served(self._app, self._schedule, self._settings)
        self._began = True

    def _serve(self, *, signals: bool = False) -> None:
        before = {number: signal.signal(number, lambda *_: self.tell_to_stop()) for number in _ENDING if signals}
        try:
            while not self._stopped:
                self.turn(self._settings.lease_ttl.total_seconds())
        finally:
            self.stop()
            self.close()
            for number, handler in before.items():
                signal.signal(number, handler)

    def stop(self) -> None:
        """Stop firing and release the lease, within two seconds for all calls together.

        May run in a signal handler on top of any frame of this object: it takes no lock and logs only afterwards.
        """
        self.tell_to_stop()
        replica, deadline = self._replica, self._stop_deadline
        if replica is None or deadline is None:
            return
        released = replica.election.stop(deadline)
        if self._thread is not None:
            atexit.unregister(self.stop)
            if self._thread is not threading.current_thread():
                self._thread.join(max(0.0, deadline - boottime()))
        first, self._reported = not self._reported, True
        if first and released and self._last_term is not None:
            logger.info("released the lease of term %s", self._last_term.number)
        elif first and not released:
            logger.warning("the lease could not be released in time, it ends by its TTL")

    def tell_to_stop(self) -> None:
        """Stop firing and have the lease released, without a wait for it; ``stop()`` is to follow.

        For a signal that an event loop handles, which must not wait: that of gevent and eventlet.
        """
        self._stopped = True
        replica = self._replica
        if replica is None or self._stop_deadline is not None:
            return
        self._stop_deadline = boottime() + STOP_WITHIN.total_seconds()
        self._last_term = replica.election.term()
        replica.election.tell_to_stop()
        replica.waker.wake()

    def close(self) -> None:
        """Close the connections. Not for signal handlers: the process's end closes them there."""
        if self._replica is not None:
            self._replica.close()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()


def _bound(schedule: Schedule, app: Celery) -> Schedule:
    if not isinstance(schedule, Schedule):
        raise ScheduleError(f"{schedule!r} is no Schedule; give the app's own, or leave it out")
    return schedule.init_app(app)
