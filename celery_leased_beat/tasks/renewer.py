"""The thread that renews what the runs of one process hold.

One for a whole process, started with its first run and after any fork. A run that ended while the server was out of
reach stays with it until its end is written.
"""

import logging
import time
from threading import Condition, Thread
from typing import Protocol

from celery_leased_beat.errors import StoreError

logger = logging.getLogger(__name__)

#: Seconds between two renewals: a hold lasts 15, so two may fail.
PERIOD = 5.0
#: Seconds until the next try of a server that gave no answer.
PAUSE = 1.0


class Kept(Protocol):
    """What the renewer looks after."""

    def keep(self) -> bool:
        """Do what is due; return whether there will be more. Raises ``StoreError``."""


class Renewer:
    """Looks after the runs of this process. Any thread may add and discard."""

    def __init__(self) -> None:
        self._runs: set[Kept] = set()
        self._changed = Condition()
        self._thread: Thread | None = None

    def add(self, run: Kept) -> None:
        """Look after ``run`` from now on."""
        with self._changed:
            if self._thread is None:
                thread = Thread(target=self._work, name="leased-beat-renewer", daemon=True)
                thread.start()
                self._thread = thread  # one that cannot start raises, and is tried again with the next run
            self._runs.add(run)
            self._changed.notify()

    def discard(self, run: Kept) -> None:
        """Leave ``run`` alone from now on."""
        with self._changed:
            self._runs.discard(run)

    def looks_after(self, run: Kept) -> bool:
        """Return whether ``run`` was added and not discarded."""
        return run in self._runs

    def _work(self) -> None:
        pause = PERIOD
        while True:
            self._wait()
            time.sleep(pause)  # a run that has just begun holds its marker for longer than this
            pause = PERIOD if self._keep_all() else PAUSE

    def _wait(self) -> None:
        with self._changed:
            self._changed.wait_for(lambda: self._runs)

    def _keep_all(self) -> bool:
        """Return whether the server answered; after the first call without an answer the others wait too."""
        with self._changed:
            runs = list(self._runs)
        try:
            for run in runs:
                if self.looks_after(run) and not run.keep():
                    self.discard(run)
        except StoreError as error:
            logger.debug("holds could not be renewed, trying again: %s", error)
            return False
        except Exception:
            logger.exception("a hold could not be renewed")
            return False
        return True
