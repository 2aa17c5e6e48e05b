"""One run of one task: it holds the task's marker from its start to its end."""

import logging
import time
from collections.abc import Callable
from uuid import uuid4

from celery.exceptions import SoftTimeLimitExceeded

from celery_leased_beat.errors import StoreError
from celery_leased_beat.store import Markers, MarkerVerdict, Start
from celery_leased_beat.tasks.renewer import Renewer

logger = logging.getLogger(__name__)


class Run:
    """One run of the task with the id ``task_id``. Its end never raises: the body was run, and is not run again."""

    def __init__(self, task_id: str, markers: Markers, renewer: Renewer) -> None:
        self._task_id = task_id
        self._token = uuid4().hex
        self._markers = markers
        self._renewer = renewer
        self._over = False
        self._began = time.monotonic()
        #: Whether the body itself sent its message again, and went on.
        self.sent_again = False

    @property
    def seconds(self) -> float:
        """For how long it goes on already."""
        return time.monotonic() - self._began

    def start(self, delivery: str, attempt: int, *, twice: bool = True) -> Start:
        """Ask whether to begin. With OWN and EXHAUSTED the marker is held, until one of the ends below.

        Raises ``StoreError``. With ``twice`` a lost reply is asked for once more: the same run may start as often as it
        likes.
        """
        try:
            start = self._markers.start(self._task_id, delivery, self._token, attempt)
        except StoreError:
            if not twice:
                raise
            start = self._markers.start(self._task_id, delivery, self._token, attempt)
        if start.verdict in (MarkerVerdict.OWN, MarkerVerdict.EXHAUSTED):
            self._renewer.add(self)
        return start

    def pause(self) -> None:
        """End it: the message comes again."""
        self.leave()
        self._write(self._markers.pause)

    def done(self) -> None:
        """End the task for good. Where that cannot be written now, the renewer goes on trying."""
        self.leave()
        if not self._write(self._markers.done):
            self._over = True
            self._renewer.add(self)

    def leave(self) -> None:
        """Stop holding the marker and write nothing: its hold runs out."""
        self._renewer.discard(self)

    def keep(self) -> bool:
        """See :class:`~celery_leased_beat.tasks.renewer.Kept`."""
        if self._over:
            self._markers.done(self._task_id, self._token)
            return False
        if self._markers.renew(self._task_id, self._token):
            return True
        if self._renewer.looks_after(self):  # else it came to its end meanwhile
            logger.warning("task %s has lost its marker while it runs: it may be run a second time", self._task_id)
        return False

    def _write(self, end: Callable[[str, str], bool]) -> bool:
        """Return whether the server answered."""
        try:
            end(self._task_id, self._token)
        except (StoreError, SoftTimeLimitExceeded) as error:
            logger.warning("the end of a run of task %s could not be written: %s", self._task_id, error)
            return False
        return True
