"""The message of a plain entry: checked, and in what an intent can carry until it is published.

Intents are kept in the JSON of Celery's messages, which also carries times, UUIDs, decimals and bytes. So arguments and
options become here what a worker would get of them; what JSON cannot carry is an error, before anything is due.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from datetime import timedelta
from functools import partial
from typing import Any

from celery import Celery
from celery.beat import BeatLazyFunc
from kombu import Exchange, Queue
from kombu.utils.json import dumps, loads

from celery_leased_beat.errors import OptionError
from celery_leased_beat.plan import Policy
from celery_leased_beat.schedule import Arguments, is_celery_task
from celery_leased_beat.schedule.options import PERIODIC, read_options

#: The header by which plain beat marks what it sends.
BEAT_HEADER = "celery_beat_task"

#: What is decided for each publish: the id is the fire's, the connection is bounded, a second try is ours.
NOT_TAKEN = frozenset({"task_id", "producer", "publisher", "connection", "retry", "retry_policy"})

#: Options of ours, which stand beside those of the message, since ``add_periodic_task`` has no other place for them.
OURS = PERIODIC.allowed


def task_name(written: Any) -> str:
    """Return the name of the task that an entry sends; a task itself may stand there. Raises ``OptionError``."""
    name = written.name if is_celery_task(written) else written
    if not isinstance(name, str) or not name:
        raise OptionError(f"its task is {written!r}; give the name of a task")
    return name


def read_arguments(
    app: Celery, task: str, args: Any, kwargs: Any, serializer: str | None
) -> tuple[Arguments, Callable[[], Arguments] | None]:
    """Return the arguments of each message; where some are lazy, none, and what evaluates them for one message.

    Raises ``OptionError`` where the task does not take them, or a message cannot carry them; for lazy ones that is
    when they are evaluated. ``serializer`` is the entry's own, where it has one.
    """
    if not isinstance(args or (), Iterable) or isinstance(args, str | bytes | Mapping):
        raise OptionError(f"its args are {args!r}; give a list or a tuple")
    if not isinstance(kwargs or {}, Mapping) or not all(isinstance(name, str) for name in kwargs or {}):
        raise OptionError(f"its kwargs are {kwargs!r}; give a dict of names and values")
    values, named = tuple(args or ()), dict(kwargs or {})
    _check_signature(app, task, values, named)
    evaluate = partial(_evaluate, values, named, exact=_serializer(app, task, serializer) != "json")
    if any(isinstance(value, BeatLazyFunc) for value in (*values, *named.values())):
        return ((), {}), evaluate
    return evaluate(), None


def read_message_options(app: Celery, written: Any) -> dict[str, Any]:
    """Return the options of each message. Raises ``OptionError`` for one that a message cannot carry."""
    if not isinstance(written or {}, Mapping):
        raise OptionError(f"its options are {written!r}; give a dict")
    options = {str(name): value for name, value in (written or {}).items() if name not in NOT_TAKEN | OURS}
    headers = options.get("headers") or {}
    if not isinstance(headers, Mapping):
        raise OptionError(f"its option 'headers' is {headers!r}; give a dict")
    options["headers"] = {**headers, BEAT_HEADER: True}
    plain = {name: _plain(app, name, value) for name, value in options.items()}
    return {name: _carried(value, f"option {name!r}", exact=False) for name, value in plain.items()}


def read_policy(written: Mapping[str, Any], deadline: timedelta | None) -> Policy:
    """Return the policy among an entry's options; its grace is ``deadline`` where it has none of its own."""
    options = read_options(PERIODIC, {name: written[name] for name in OURS & written.keys()})
    return options.policy if options.own_grace else replace(options.policy, grace=deadline)


def _evaluate(args: tuple[Any, ...], kwargs: Mapping[str, Any], *, exact: bool) -> Arguments:
    def evaluated(value: Any, what: str) -> Any:
        return _carried(value() if isinstance(value, BeatLazyFunc) else value, what, exact=exact)

    return (
        tuple(evaluated(value, f"argument {number}") for number, value in enumerate(args, 1)),
        {name: evaluated(value, f"argument {name}") for name, value in kwargs.items()},
    )


def _check_signature(app: Celery, task: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    registered = app.tasks.get(task)
    check = getattr(registered, "__header__", None)
    if check is not None and getattr(registered, "typing", False):
        try:
            check(*args, **kwargs)
        except TypeError as error:
            raise OptionError(f"the task {task} does not take its arguments: {error}") from None


def _serializer(app: Celery, task: str, own: str | None) -> str:
    return str(own or getattr(app.tasks.get(task), "serializer", None) or app.conf.task_serializer)


def _plain(app: Celery, name: str, value: Any) -> Any:
    """Return an option's value in the plain form that Celery takes as well."""
    if isinstance(value, timedelta):
        return value.total_seconds()
    if isinstance(value, Queue | Exchange):
        if value.name not in _declared(app, type(value)):
            raise OptionError(f"its option {name!r} is {value!r}: define it in task_queues, and give its name here")
        return value.name
    return value


def _declared(app: Celery, kind: type[Queue | Exchange]) -> set[str]:
    queues = app.amqp.queues.values()
    return {queue.name if kind is Queue else queue.exchange.name for queue in queues}


def _carried(value: Any, what: str, *, exact: bool) -> Any:
    """Return what the JSON of Celery's messages makes of ``value``; ``exact`` wants it to be the same value."""
    try:
        carried = loads(dumps(value))
    except (TypeError, ValueError) as error:
        raise OptionError(f"its {what} is {value!r}, which the ledger cannot keep: {error}") from None
    if exact and carried != _with_lists(value):
        raise OptionError(f"its {what} is {value!r}, which the ledger would change to {carried!r}; give what JSON has")
    return carried


def _with_lists(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _with_lists(one) for name, one in value.items()}
    return [_with_lists(one) for one in value] if isinstance(value, list | tuple) else value
