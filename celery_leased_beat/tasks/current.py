"""For tasks that have no parameter for it: which fire is running here."""

from celery._state import get_current_worker_task

from celery_leased_beat.fires import Fire
from celery_leased_beat.headers import fire_of, origin_of
from celery_leased_beat.tasks.clock import now


def current_fire() -> Fire | None:
    """Return the fire that the running task was sent for, whatever kind of task that is.

    None where no message of a scheduler of ours is being run: outside of a task, after ``delay()``, in a listener,
    which has the envelope.
    """
    task = get_current_worker_task()
    if task is None or origin_of(task.request).fire is None:
        return None
    return fire_of(task.request, str(task.name), now())
