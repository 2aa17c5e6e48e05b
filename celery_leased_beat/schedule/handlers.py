"""What may be a handler, and whether it is handed the fire or the envelope."""

import inspect
import re
import sys
from collections.abc import Callable, Mapping
from functools import partial
from inspect import Parameter
from typing import Any, get_args

from celery_leased_beat.errors import ScheduleError

#: How a signature is asked for: with its annotations evaluated, else as text.
_WAYS: tuple[dict[str, Any], ...] = ({"eval_str": True}, {})
if sys.version_info >= (3, 14):
    from annotationlib import Format

    _WAYS = (*_WAYS, {"annotation_format": Format.FORWARDREF})

_POSITIONAL = (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)


def check_handler(handler: object) -> None:
    """Raise ``ScheduleError`` where ``handler`` cannot be called, or where calling it would run nothing."""
    if not callable(handler) or isinstance(handler, Mapping):
        raise ScheduleError(f"the handler {handler!r} cannot be called; give a function, a method or a Celery task")
    if isinstance(handler, type):
        name = handler.__qualname__
        raise ScheduleError(f"the handler {name} is a class; give an object of it, {name}(...), or a function")
    bodies = (handler, type(handler).__call__, getattr(handler, "run", None) if is_celery_task(handler) else None)
    if any(inspect.iscoroutinefunction(body) or inspect.isasyncgenfunction(body) for body in bodies):
        raise ScheduleError(
            f"the handler {handler!r} is async, and a Celery worker would not await it; "
            "give a plain function, such as one that calls asyncio.run(...)"
        )
    if any(inspect.isgeneratorfunction(body) for body in bodies):
        raise ScheduleError(f"the handler {handler!r} has a yield, so calling it would not run its body")


def is_celery_task(handler: object) -> bool:
    """Return whether ``handler`` is a Celery task, which is sent as itself."""
    return callable(getattr(handler, "apply_async", None)) and isinstance(getattr(handler, "name", None), str)


def handler_name(handler: object) -> str | None:
    """Return the name of the function in ``handler``; None where it is an object without a name."""
    while isinstance(handler, partial):
        handler = handler.func
    name = getattr(handler, "__name__", None)
    return name if isinstance(name, str) else None


def takes_context(handler: Callable[..., Any], context: type[Any], position: int) -> bool:
    """Return whether ``handler`` is called with a ``context`` after its first ``position`` arguments.

    It is, where its next positional parameter is required or annotated with ``context``: a job is called with the
    fire (position 0), a listener with the event and the envelope (position 1). Raises ``ScheduleError`` where
    ``handler`` is none, or could not be called in either way.
    """
    check_handler(handler)
    parameters = _parameters(handler)
    positional = [parameter for parameter in parameters if parameter.kind in _POSITIONAL]
    wanted = positional[position] if len(positional) > position else None
    called = f"the handler {handler!r} is called with {'the event and ' * position}at most one {context.__name__}"
    for parameter in parameters:
        if parameter is not wanted and _is_annotated(parameter, context):
            raise ScheduleError(f"{called}, as its positional argument {position + 1}; {parameter.name!r} is another")
        if parameter not in positional[: position + 1] and _is_required(parameter):
            raise ScheduleError(f"{called}, so {parameter.name!r} needs a default")
    if len(positional) < position and not any(one.kind is Parameter.VAR_POSITIONAL for one in parameters):
        raise ScheduleError(f"{called}, but it takes no argument")
    return wanted is not None and (_is_required(wanted) or _is_annotated(wanted, context))


def check_runs_alone(task: Any) -> None:
    """Raise ``ScheduleError`` where a Celery task wants arguments; a schedule sends it without any."""
    check_handler(task)
    for parameter in _parameters(getattr(task, "run", task)):
        if _is_required(parameter):
            raise ScheduleError(f"the task {task.name} is sent without arguments; {parameter.name!r} needs a default")


def _parameters(handler: Callable[..., Any]) -> list[Parameter]:
    """A callable in C may have no signature; it is then called without a context."""
    for way in _WAYS:
        try:
            return list(inspect.signature(handler, **way).parameters.values())
        except Exception:
            continue
    return [Parameter("arguments", Parameter.VAR_POSITIONAL)]


def _is_required(parameter: Parameter) -> bool:
    variable = (Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD)
    return parameter.default is Parameter.empty and parameter.kind not in variable


def _is_annotated(parameter: Parameter, context: type[Any]) -> bool:
    """An annotation whose names are not there at run time is still known as text."""
    annotation = getattr(parameter.annotation, "__forward_arg__", parameter.annotation)
    if isinstance(annotation, str):
        return re.search(rf"\b{context.__name__}\b", annotation) is not None
    return annotation is context or context in get_args(annotation)
