"""Which apps are bound, and to what.

Kept here and not in ``app.conf``, which is pickled for spawned children and printed by ``celery report``. An app that
nobody holds any more is forgotten.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from celery import Celery, signals
from celery.local import Proxy

from celery_leased_beat.errors import ScheduleError
from celery_leased_beat.events import Envelope
from celery_leased_beat.tasks import PUT_OFF, PutOffTask, put_off_unknown, send_again
from celery_leased_beat.tasks.compat import AnyApp, AnyTask

if TYPE_CHECKING:
    from celery_leased_beat.binding.events import Events
    from celery_leased_beat.binding.schedule import Schedule

#: By its name, since a binding imports nothing that stands above it.
WORKER_STEP = "celery_leased_beat.worker:RunnerStep"

schedules: WeakKeyDictionary[Celery, "Schedule"] = WeakKeyDictionary()
events: WeakKeyDictionary[Celery, "Events"] = WeakKeyDictionary()
#: Who takes what is dispatched at runtime instead of the broker: ``celery_leased_beat.testing``, while a test runs.
outlets: WeakKeyDictionary[Celery, Callable[[Envelope], None]] = WeakKeyDictionary()

_registered: WeakKeyDictionary[Celery, set[str]] = WeakKeyDictionary()


def real_app(app: AnyApp) -> Celery:
    """Return ``app`` itself, of a proxy what it stands for. Raises ``ScheduleError`` for anything but a Celery app."""
    if isinstance(app, Proxy):
        app = app._get_current_object()
    if not isinstance(app, Celery):
        raise ScheduleError(f"{app!r} is no Celery app; give the Celery app itself")
    return app


def bind(app: AnyApp) -> Celery:
    """Prepare ``app`` for what is bound to it, and return it. Reads no setting. Raises what ``real_app`` raises."""
    app = real_app(app)
    register(app, PUT_OFF, lambda: send_again, PutOffTask)
    app.steps["worker"].add(WORKER_STEP)
    signals.task_unknown.connect(_put_off_unknown, dispatch_uid="celery_leased_beat")
    return app


def register(app: Celery, name: str, body: Callable[[], Callable[..., Any]], base: type[AnyTask],
             **options: Any) -> None:  # fmt: skip
    """Register a task, once per app; ``body`` makes what it runs. It is for this app alone, unlike Celery's default."""
    known = _registered.setdefault(app, set())
    if name not in known:
        known.add(name)
        app.task(name=name, base=base, bind=True, shared=False, **options)(body())  # type: ignore[no-untyped-call]


def _put_off_unknown(sender: Any, **message: Any) -> None:
    if sender.app in _registered:
        put_off_unknown(sender, **message)
