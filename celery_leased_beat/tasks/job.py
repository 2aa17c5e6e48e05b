"""The task ``job:<name>``: calls the job's handler."""

from collections.abc import Callable

from celery_leased_beat.fires import Fire
from celery_leased_beat.headers import fire_of
from celery_leased_beat.schedule import takes_context
from celery_leased_beat.tasks.clock import now
from celery_leased_beat.tasks.compat import AnyTask


def job(name: str, handler: Callable[..., object]) -> Callable[..., None]:
    """Return the body of the task of the job ``name``. What the handler returns is not kept."""
    with_fire = takes_context(handler, Fire, 0)

    def run(task: AnyTask) -> None:
        if with_fire:
            handler(fire_of(task.request, name, now()))
        else:
            handler()

    return run
