"""``Events(app)``: who listens to which event, and how one is dispatched at runtime."""

from collections.abc import Callable, Sequence
from typing import Any, Self, TypeVar, Unpack
from uuid import uuid4
from weakref import WeakKeyDictionary

from celery import Celery, current_app

from celery_leased_beat.binding import registry
from celery_leased_beat.errors import ScheduleError
from celery_leased_beat.events import Envelope, Listener, Listeners, dispatch_task, encode, event_name, trigger_task
from celery_leased_beat.headers import envelope_header
from celery_leased_beat.schedule import ListenerOptions, build_listener, listener_options
from celery_leased_beat.schedule.keywords import MessageOptions
from celery_leased_beat.schedule.options import Place, read_options
from celery_leased_beat.tasks import HandlerTask, fanout, listener, now, send, warn_of_silence
from celery_leased_beat.tasks.compat import AnyApp

Handler = TypeVar("Handler", bound=Callable[..., Any])

_DISPATCH = Place("a dispatch", frozenset(MessageOptions.__annotations__), {})


class Events:
    """The listeners of an app. ``Events()`` and ``init_app`` serve modules that load before the app."""

    def __init__(self, app: AnyApp | None = None) -> None:
        self._listeners = Listeners()
        #: In the order in which they were bound, which a WeakSet would not keep.
        self._apps: WeakKeyDictionary[Celery, None] = WeakKeyDictionary()
        if app is not None:
            self.init_app(app)

    @property
    def listeners(self) -> Listeners:
        """All listeners, by their events."""
        return self._listeners

    def init_app(self, app: AnyApp) -> Self:
        """Bind to ``app``. Reads no setting. Raises ``ScheduleError`` where the app has other Events already."""
        app = registry.bind(app)
        if registry.events.setdefault(app, self) is not self:
            raise ScheduleError(f"{app!r} has its Events already; use these, or give that app's to all modules")
        if app not in self._apps:
            self._apps[app] = None
            for one in self._listeners:
                register_listener(app, one)
        return self

    def listener(self, event: type[Any], **options: Unpack[ListenerOptions]) -> Callable[[Handler], Handler]:
        """Decorate a handler of ``event``; it gets the event and, where it takes a second argument, the envelope."""
        checked = listener_options(event, options)

        def decorate(handler: Handler) -> Handler:
            one = build_listener(event, handler, checked)
            self._listeners.add(one)
            for app in self._apps:
                register_listener(app, one)
            return handler

        return decorate

    def dispatch(self, event: object, **options: Unpack[MessageOptions]) -> str:
        """Send ``event`` to all its listeners, which may be unknown here; return the id of its envelope.

        ``options`` are of the one message that is sent now. Under ``task_always_eager`` the listeners run in place.
        """
        app, name = self._app(), event_name(event)
        message = read_options(_DISPATCH, options).message
        envelope, payload, occurred_at = str(uuid4()), encode(event), now()
        kwargs = {"payload": payload, "occurred_at": occurred_at.isoformat()}
        outlet = registry.outlets.get(app)
        if outlet is not None:
            outlet(Envelope(envelope, name, payload, occurred_at))
        elif app.conf.task_always_eager:
            _run_in_place(app, name, kwargs, envelope)
        else:
            send(app, dispatch_task(name), kwargs, task_id=envelope, envelope=envelope, options=message)
        return envelope

    def _app(self) -> Celery:
        apps = list(self._apps)
        if not apps:
            raise ScheduleError("these Events are bound to no app yet; call init_app(app) before dispatch")
        if len(apps) == 1:
            return apps[0]
        current = current_app._get_current_object()  # type: ignore[attr-defined]
        return current if current in self._apps else apps[-1]


def listeners_of(app: Celery, event: str) -> Sequence[Listener]:
    """Return who listens to the event of that name in ``app``."""
    bound = registry.events.get(app)
    return bound.listeners.of(event) if bound is not None else ()


def register_trigger(app: Celery, event: str) -> None:
    """Register the task that a fire of ``event`` enqueues."""
    registry.register(app, trigger_task(event), lambda: fanout(event, listeners_of), HandlerTask)


def register_listener(app: Celery, one: Listener) -> None:
    """Register a listener's task, and the two tasks that fan out to it."""
    event = event_name(one.event)
    register_trigger(app, event)
    registry.register(app, dispatch_task(event), lambda: fanout(event, listeners_of), HandlerTask)
    registry.register(app, one.task, lambda: listener(one), HandlerTask, **one.task_options)


def _run_in_place(app: Celery, event: str, kwargs: dict[str, Any], envelope: str) -> None:
    task = app.tasks.get(dispatch_task(event))
    if task is None:
        warn_of_silence(event)
    else:
        task.apply(kwargs=kwargs, task_id=envelope, headers=envelope_header(envelope))
