"""A replica inside the worker: with ``leased_beat_in_worker = True`` each worker of the app competes for the lease.

The step stands on the worker's blueprint, above the pool: its thread starts after the pool and ends before it, and a
shutdown that has only begun releases the lease already, by the signal's handler, which waits for nothing: gevent and
eventlet run it in their event loop. It lets the beat of ``-B`` go too, which Celery does not before the last body
is over. A lost broker restarts the consumer and leaves this step alone; a lost lease never touches the worker. The step
also says, once and at the start, what a user of this worker would otherwise find out late.
"""

import logging
from typing import Any, cast

from celery import bootsteps, signals
from celery.utils.imports import load_extension_class_names, symbol_by_name

from celery_leased_beat.binding import registry
from celery_leased_beat.errors import LeasedBeatError
from celery_leased_beat.runner import Runner
from celery_leased_beat.scheduler import Scheduler
from celery_leased_beat.store import address
from celery_leased_beat.tasks import settings_for

logger = logging.getLogger(__name__)

#: What a pool makes of time limits, where it is not what is asked for: prefork ends a task at both.
_LIMITS = {
    "prefork": None,
    "processes": None,
    "gevent": "enforces hard time limits only: what passes its timeout is ended 30 s later, and is not retried",
}
_NO_LIMITS = "enforces no time limits: the timeout of a job or a listener has no effect"


class RunnerStep(bootsteps.StartStopStep):
    """Runs a :class:`Runner` in a thread of the worker's main process, where the app asks for it."""

    requires = ("celery.worker.components:Pool",)

    def __init__(self, parent: Any, beat: bool = False, **kwargs: Any) -> None:
        super().__init__(parent, **kwargs)
        self._beat = beat
        self._runner: Runner | None = None
        self._embedded: Any = None

    def start(self, parent: Any) -> None:
        """Check the settings, say what is to be said, and start the replica where one is wanted."""
        try:
            settings = settings_for(parent.app)
            address(settings.backend_url, settings.transport_options)  # which is used with the first task only
            if parent.app in registry.schedules:
                registry.schedules[parent.app].check_complete()
            runner = Runner(parent.app) if settings.in_worker else None
        except LeasedBeatError as error:
            raise SystemExit(f"celery_leased_beat: {error}") from error
        _warn(parent, beat=self._beat)
        if self._beat and _is_ours(parent.scheduler):
            self._embedded = parent.beat
        signals.worker_shutting_down.connect(self._tell_to_stop, weak=False)
        if runner is not None:
            self._runner = runner
            runner.start()

    def stop(self, parent: Any) -> None:
        """Release the lease, before the pool goes."""
        signals.worker_shutting_down.disconnect(self._tell_to_stop)
        if self._runner is not None:
            self._runner.stop()

    terminate = stop

    def _tell_to_stop(self, **_: Any) -> None:
        if self._runner is not None:
            self._runner.tell_to_stop()
        if self._embedded is not None and self._embedded.is_alive():
            self._embedded.terminate()


def _warn(worker: Any, *, beat: bool) -> None:
    if beat and not _is_ours(worker.scheduler):
        logger.warning(
            "this worker's -B runs %s, which knows nothing of the lease: set beat_scheduler to "
            "'celery_leased_beat.Scheduler' (a worker's -S is its state file, not its scheduler)",
            worker.scheduler,
        )
    pool = worker.pool_cls if isinstance(worker.pool_cls, str) else worker.pool_cls.__module__.rpartition(".")[2]
    limits = _LIMITS.get(pool, _NO_LIMITS)
    if limits is not None:
        logger.warning("the %s pool %s", pool, limits)


def _is_ours(scheduler: Any) -> bool:
    """Return whether ``scheduler``, a class or the name of one, is ours or a subclass of it."""
    aliases: dict[str, str] = dict(cast("Any", load_extension_class_names("celery.beat_schedulers")))
    found = symbol_by_name(scheduler, aliases=aliases)
    return isinstance(found, type) and issubclass(found, Scheduler)
