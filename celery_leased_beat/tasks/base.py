"""The task classes: a run is guarded by its task's marker, and a retry is never lost.

What a message meets at its start, and what becomes of it (``store.marker`` says how it is told):

=============  ==========================================================================================
own            the body runs
duplicate      dropped: another delivery of the id came first, or a later attempt
done           dropped: the task is over
live           put off until the other run's hold ends: sent again as it is, then acknowledged
exhausted      over as failed: its starts ended in nothing, as those of a body do that kills its worker
(no answer)    put off; the body does not run, and no attempt is used up
=============  ==========================================================================================

How a run ends: *done* by success, by failure for good, by ``Ignore`` and by ``Reject`` without requeue; *paused* by a
retry and by ``Reject`` with requeue. Where its process dies or is told to exit nothing is written: the hold runs out.
"""

import logging
from datetime import datetime
from functools import partial
from math import inf
from typing import Any, Self
from weakref import WeakKeyDictionary

from celery import Celery
from celery.app.task import Context, Task
from celery.exceptions import Ignore, MaxRetriesExceededError, Reject, Retry, SoftTimeLimitExceeded

from celery_leased_beat.errors import PayloadError, SettingsError, StoreError
from celery_leased_beat.headers import origin_of
from celery_leased_beat.store import MarkerVerdict, Start
from celery_leased_beat.tasks.compat import AnyTask
from celery_leased_beat.tasks.records import records_for, silence_of
from celery_leased_beat.tasks.run import Run
from celery_leased_beat.tasks.sending import PATIENCE, confirmed, destination, insist, put_off

logger = logging.getLogger(__name__)

#: Seconds for which a message is put off where the lease's server gives no answer: it is not started late by much, and
#: an outage does not fill the broker's log.
OUT_OF_REACH = 5

#: Seconds that a last publish may take before the hard limit: as long as RabbitMQ may take to confirm it.
HARD_LIMIT_MARGIN = 10
#: With less than so many seconds left before the hard limit, a server that gives no answer is asked nothing more.
HARD_LIMIT_NEAR = 15

_ROUTE = {"queue", "exchange", "routing_key"}

#: The runs that are at work in this process, by their requests.
_running: WeakKeyDictionary[Context, Run] = WeakKeyDictionary()


class LeasedTask(AnyTask):
    """A Celery task that takes effect once per task id; the base class for tasks of one's own.

    Where it runs in place (``task_always_eager``, ``apply``, a direct call) there is no marker.
    """

    abstract = True
    acks_late = True
    reject_on_worker_lost = True
    #: Celery 5.7 would send a retry for a run whose worker died, and count it as one.
    retry_on_worker_lost = False
    #: How long (seconds) a run insists on sending its message again, before the message is requeued.
    publish_patience = PATIENCE

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        request = self.request
        if request.called_directly or request._protected or request in _running:  # type: ignore[attr-defined]
            return super().__call__(*args, **kwargs)
        if request.is_eager:
            return self._run_body(args, kwargs)
        run = _running[request] = self._start(request)
        return self._finish(run, args, kwargs)

    def apply_async(  # type: ignore[override]  # the stubs list Celery's options by name
        self, args: Any = None, kwargs: Any = None, task_id: str | None = None, producer: Any = None, **options: Any
    ) -> Any:
        """Publish as Celery does, the first time and each retry, and have RabbitMQ confirm it."""
        if self.app.conf.task_always_eager:
            return super().apply_async(args, kwargs, task_id, producer, **options)
        with confirmed(self.app, producer) as confirmation:
            return super().apply_async(args, kwargs, task_id, **{**confirmation, **options})

    def retry(
        self, args: Any = None, kwargs: Any = None, exc: Exception | None = None,
        throw: bool = True, eta: datetime | None = None, countdown: float | None = None,
        max_retries: int | None = None, **options: Any,
    ) -> Retry:  # fmt: skip
        """Retry as Celery does, but requeue the message where the retry cannot be published: Celery drops it."""
        run, retry = self._current_run(), super().retry
        if run is None:
            return retry(args, kwargs, exc, throw, eta, countdown, max_retries, **options)
        if not options.keys() & _ROUTE:
            options |= destination(self.app, self.request)
        limit = self.max_retries if max_retries is None else max_retries
        if throw and (limit is None or self.request.retries < limit):
            run.pause()  # before the publish: its message may be there at once
        if "headers" in options:
            options["headers"] = {**(self.request.headers or {}), **options["headers"]}
        publish = partial(retry, args, kwargs, exc, throw, eta, countdown, max_retries, **options)
        try:
            again = insist(publish, self._patience(run.seconds), Reject)
        except (Reject, SoftTimeLimitExceeded) as error:
            raise Reject(repr(error), requeue=True) from error
        run.sent_again = True
        return again

    def _patience(self, elapsed: float = 0.0) -> float:
        """Return for how long to insist now: a hard limit would end the process, and the message with it."""
        return min(self.publish_patience, self._left(elapsed) - HARD_LIMIT_MARGIN)

    def _left(self, elapsed: float = 0.0) -> float:
        """Return the seconds until the hard limit, for a run that has gone on for ``elapsed`` seconds."""
        hard_limit = (self.request.timelimit or (None, None))[0] or self.time_limit
        return inf if hard_limit is None else hard_limit - elapsed

    def _current_run(self) -> Run | None:
        """Return the run in whose body this is; a plain call of the task itself, out of that body, belongs to it."""
        requests = self.request_stack.stack
        return _running.get(requests[0]) if requests and not self.request.is_eager else None

    def _start(self, request: Context) -> Run:
        """Return the run that may begin. Raises what ends this delivery where none may."""
        run: Run | None = None
        try:
            records = records_for(self.app)
            run = Run(str(request.id), records.markers, records.renewer)
            start = run.start(origin_of(request).delivery, request.retries, twice=self._left() > HARD_LIMIT_NEAR)
        except (StoreError, SettingsError, SoftTimeLimitExceeded) as error:
            if run is not None and self._left(run.seconds) > HARD_LIMIT_NEAR:
                run.pause()  # a start of which only the answer is late must not count as one that ended in nothing
            silence_of(self.app).note(error)
            logger.debug("task %s[%s] is put off, its marker could not be asked", self.name, request.id)
            raise put_off(self, OUT_OF_REACH, self._patience(run.seconds if run else 0.0)) from error
        silence_of(self.app).end()
        if start.verdict is MarkerVerdict.OWN:
            return run
        raise self._refuse(run, start, request)

    def _refuse(self, run: Run, start: Start, request: Context) -> Exception:
        if start.verdict is MarkerVerdict.EXHAUSTED:
            run.done()
            return MaxRetriesExceededError(f"{self.name}[{request.id}] was started too often without coming to an end")
        if start.verdict is MarkerVerdict.LIVE:
            logger.debug("task %s[%s] is running elsewhere, this message is put off", self.name, request.id)
            return put_off(self, start.remaining.total_seconds(), self._patience(run.seconds))
        logger.debug("task %s[%s] is dropped: %s", self.name, request.id, start.verdict.value)
        return Ignore()

    def _finish(self, run: Run, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Run the body and write how it ended."""
        try:
            result = self._run_body(args, kwargs)
        except Exception as error:
            run.pause() if run.sent_again or _comes_again(error) else run.done()
            raise
        except BaseException:
            run.leave()
            raise
        run.pause() if run.sent_again else run.done()
        return result

    def _run_body(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Run the body, in the ``__call__`` of the app's own task class where it has one: Flask's enters a context."""
        if super(LeasedTask, type(self)).__call__ is not Task.__call__:
            return super().__call__(*args, **kwargs)  # a worker's Celery lets this one ask its base in turn
        self.request._protected = 1  # type: ignore[attr-defined]  # as Celery does: a call out of the body is a plain one
        return self.run(*args, **kwargs)


def _comes_again(error: Exception) -> bool:
    requeued = isinstance(error, Reject) and error.requeue  # type: ignore[attr-defined]
    return isinstance(error, Retry) or requeued


class HandlerTask(LeasedTask):
    """The class of our own tasks: JSON; every exception but ``PayloadError`` is retried, with backoff and jitter."""

    abstract = True
    serializer = "json"
    #: With the backoff below an hour and a half on average: most outages are outlived.
    max_retries = 25
    autoretry_for = (Exception,)
    dont_autoretry_for = (PayloadError, Reject)
    retry_backoff = True
    retry_backoff_max = 600
    retry_jitter = True

    def __new__(cls) -> Self:
        """Join the app's own task class, ``Celery(task_cls=...)``, which nobody needs before Celery makes the task."""
        app: Celery = cls.app  # type: ignore[assignment]
        joined: type[Self] = type(str(cls.__name__), (cls, app.Task), {"__module__": cls.__module__})
        return super().__new__(joined)
