"""A beat of an app with a Schedule that runs another scheduler: it fires nothing of the Schedule, and must say so."""

import logging
import threading
from typing import Any

from billiard.process import current_process

from celery_leased_beat.binding import registry

logger = logging.getLogger(__name__)

#: What Celery calls the process or the thread of a worker's ``-B``, of which the worker itself has warned.
_EMBEDDED = "Beat"
_PACKAGE = __package__.partition(".")[0] + "."


def warn_of_plain_beat(sender: Any, **_: Any) -> None:
    """Receive ``beat_init`` of a beat's service, which runs its scheduler by now."""
    if sender.app not in registry.schedules or _EMBEDDED in (current_process().name, threading.current_thread().name):
        return
    scheduler = type(sender.scheduler)
    if not any(ancestor.__module__.startswith(_PACKAGE) for ancestor in scheduler.__mro__):
        logger.warning(
            "this beat runs %s.%s, which knows nothing of the lease and fires nothing of the app's Schedule: set "
            "beat_scheduler to 'celery_leased_beat.Scheduler', or start it with -S leased",
            scheduler.__module__,
            scheduler.__qualname__,
        )
