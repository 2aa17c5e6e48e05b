"""``celery beat -S celery_leased_beat.Scheduler``: the adapter between Celery's beat service and a :class:`Runner`.

What beat does with a scheduler, and what this one makes of it:

- It builds two: one with ``lazy=True`` for the banner, one to run. A constructor opens nothing; the first tick starts.
- It sleeps in ``time.sleep`` for what ``tick`` returns; so a tick waits by itself, wakes on an election, a due instant
  or a stop, and returns 0.
- On SIGTERM and SIGINT it calls ``close()`` on top of whatever the main thread was doing, raises ``SystemExit``, and
  calls ``close()`` once more. So ``close()`` only tells the runner to stop, and waits for it; see :meth:`Runner.stop`.
- In the child of ``worker -B`` a second SIGTERM would kill in the middle of the release, and a worker that dies by
  SIGKILL leaves the child behind: the child ignores the first and notices the second.
"""

import os
import signal
from contextlib import suppress
from typing import Any, cast

from billiard.process import current_process
from celery import Celery, beat

from celery_leased_beat.errors import LeasedBeatError
from celery_leased_beat.runner import Runner
from celery_leased_beat.schedule import Entry


class Scheduler(beat.Scheduler):
    """The beat scheduler of this package: competes for the lease, and fires while it holds it."""

    def __init__(self, app: Celery, *args: Any, **kwargs: Any) -> None:
        super().__init__(app, *args, **{**kwargs, "lazy": True})
        try:
            self._runner = Runner(app)
        except LeasedBeatError as error:
            raise SystemExit(f"celery_leased_beat: {error}") from error
        self._parent = os.getppid()

    @property
    def schedule(self) -> dict[str, Entry]:  # type: ignore[override]
        """The entries that are served, by name; for people who look, as no method of the base is used that would."""
        return dict(self._runner.entries)

    @property
    def info(self) -> str:
        """The lines that the banner of ``celery beat`` shows."""
        return "\n".join(f"    . {name} -> {value}" for name, value in self._runner.info().items())

    def tick(self, *args: Any, **kwargs: Any) -> float:
        """Run one turn and wait for the next; return 0, since the waiting is done."""
        if self._runner.stopped or (_is_embedded() and os.getppid() != self._parent):
            raise SystemExit
        self._runner.turn(cast("float", self.max_interval))
        return 0

    def close(self) -> None:
        """Stop firing and release the lease; may be called from a signal handler, and as often as one likes."""
        if _is_embedded():
            with suppress(ValueError):  # not the main thread: no signal meets it
                signal.signal(signal.SIGTERM, signal.SIG_IGN)
        self._runner.stop()


def _is_embedded() -> bool:
    """Return whether this process is the beat child of a worker."""
    return bool(current_process().name == "Beat")
