"""An event becomes a JSON payload, and a payload becomes the event again.

Law: what ``encode`` returns, ``decode`` reads. A payload of an older or newer deploy is read as follows: a key that the
class does not know is ignored (a pydantic model decides that itself), a field that is missing takes its default, and
one that is missing and has none is a ``PayloadError``. So a new field needs a default; a removed one costs nothing.
"""

import json
import math
from collections.abc import Mapping
from typing import Any, TypeVar

from celery_leased_beat.errors import EventError, PayloadError
from celery_leased_beat.events.converter import converter
from celery_leased_beat.events.names import event_name
from celery_leased_beat.events.problems import NotPlainError, describe

Value = TypeVar("Value")


def encode(event: object) -> dict[str, Any]:
    """Return the payload of ``event``, plain JSON. Raises ``EventError`` where it has none that could be read back."""
    name = event_name(event)
    if isinstance(event, type):
        raise EventError(f"{event.__qualname__} is the class of event {name}; give one: {event.__qualname__}(...)")
    try:
        payload = _plain(converter().unstructure(event))
        if not isinstance(payload, dict):
            raise ValueError(f"an object expected, not {payload!r}")
        converter().structure(payload, type(event))
    except Exception as error:
        raise EventError(f"this {type(event).__qualname__} (event {name}) cannot be sent: {describe(error)}") from error
    return payload


def decode(cls: type[Value], payload: object) -> Value:
    """Return the event of class ``cls`` in ``payload``.

    Raises ``PayloadError``, which names the event, the path and the value, where the payload does not fit the class.
    """
    return read(cls, payload, f"event {event_name(cls)}")


def read(cls: type[Value], payload: object, what: str) -> Value:
    """Return the ``cls`` in ``payload``, an event or not; errors call it ``what``. Raises ``PayloadError``."""
    try:
        return converter().structure(payload, cls)
    except Exception as error:
        raise PayloadError(f"{what} does not fit {cls.__module__}.{cls.__qualname__}: {describe(error)}") from error


def _plain(value: Any, path: str = "payload") -> Any:
    """Return ``value`` in exact JSON types. Raises ``ValueError`` at the first thing that JSON cannot carry."""
    match value:
        case None | bool():
            return value
        case str():
            return str.__str__(value)
        case int():
            return int(value)
        case float() if math.isfinite(value):
            return float(value)
        case Mapping():
            return {_plain_key(key, path): _plain(item, f"{path}.{key}") for key, item in value.items()}
        case list() | tuple():
            return [_plain(item, f"{path}[{index}]") for index, item in enumerate(value)]
    raise NotPlainError(path, f"JSON cannot carry {value!r} ({type(value).__name__})")


def _plain_key(key: object, path: str) -> str:
    if isinstance(key, str):
        return str.__str__(key)
    if isinstance(key, int | float):
        return json.dumps(_plain(key, path))
    raise NotPlainError(path, f"the key {key!r} ({type(key).__name__}) is neither text nor a number")
