"""The cattrs converter of event payloads: which Python value is which JSON value, and back.

=====================================  =========================================================================
``str int float bool None``            themselves
``datetime date time``                 ISO 8601 text; an aware datetime comes back with its offset, not its zone
``timedelta``                          seconds as text, exact to the microsecond
``Decimal UUID Path``                  text
``bytes``                              base64 text
``Enum``                               its value
dataclass, attrs class, ``TypedDict``  an object
pydantic model                         as pydantic does it
``list tuple set frozenset deque``     an array; that of a set is sorted, so that each replica sends the same
``dict``                               an object; a key may be whatever becomes text or a number
``X | None``, unions, ``Literal``      as cattrs tells them apart
``Any``                                comes back as plain JSON
=====================================  =========================================================================

Reading is strict: no JSON type is taken for another, except a whole number for a ``float`` or a ``Decimal``.
"""

from base64 import b64decode, b64encode
from collections.abc import Callable, Mapping
from dataclasses import dataclass, is_dataclass
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from functools import cache, partial
from pathlib import Path
from typing import Any, get_origin
from uuid import UUID

import attrs
from cattrs import Converter
from cattrs.strategies import configure_union_passthrough

from celery_leased_beat.events.containers import register_containers
from celery_leased_beat.events.models import dump, is_model, load

_SECOND = 10**6
_MICROSECOND = timedelta(microseconds=1)


@dataclass(frozen=True, slots=True)
class _Scalar:
    """How one class of values is read and written: its name in errors, and the JSON types that it is read from."""

    name: str
    accepts: tuple[type, ...]
    read: Callable[[Any, Any], Any]
    write: Callable[[Any], Any] = lambda value: value

    def structure(self, value: Any, cls: Any) -> Any:
        if type(value) in self.accepts:
            try:
                return self.read(value, cls)
            except (ValueError, ArithmeticError):
                pass
        name = f"one of {[member.value for member in cls]}" if issubclass(cls, Enum) else self.name
        raise ValueError(f"{name} expected, not {value!r}")


def _write(cls: type, write: Callable[[Any], Any], value: Any) -> Any:
    """Leave a value of a wrong class as it is: it is refused when the payload is read back."""
    return write(value) if isinstance(value, cls) else value


def _construct(value: Any, cls: Any) -> Any:
    return cls(value)


def _from_iso(value: str, cls: Any) -> Any:
    return cls.fromisoformat(value)


def _to_iso(value: date | time) -> str:
    return value.isoformat()


def _from_base64(value: str, _: object) -> bytes:
    return b64decode(value, validate=True)


def _to_base64(value: bytes) -> str:
    return b64encode(value).decode()


def _from_seconds(value: str, _: object) -> timedelta:
    return int(Decimal(value) * _SECOND) * _MICROSECOND


def _to_seconds(value: timedelta) -> str:
    return str(Decimal(value // _MICROSECOND) / _SECOND)


_SCALARS: Mapping[type, _Scalar] = {
    str: _Scalar("text", (str,), _construct),
    int: _Scalar("a whole number", (int,), _construct),
    float: _Scalar("a number", (float, int), _construct),
    bool: _Scalar("true or false", (bool,), _construct),
    bytes: _Scalar("base64 text", (str,), _from_base64, _to_base64),
    datetime: _Scalar("an ISO 8601 datetime", (str,), _from_iso, _to_iso),
    date: _Scalar("an ISO 8601 date", (str,), _from_iso, _to_iso),
    time: _Scalar("an ISO 8601 time", (str,), _from_iso, _to_iso),
    timedelta: _Scalar("seconds as text", (str,), _from_seconds, _to_seconds),
    Decimal: _Scalar("a decimal number as text", (str, int), _construct, str),
    UUID: _Scalar("a UUID", (str,), _construct, str),
    Path: _Scalar("a path", (str,), _construct, str),
}


@cache
def converter() -> Converter:
    """Return the one converter of the process, made when it is first needed."""
    made = Converter(unstruct_collection_overrides={tuple: list})
    for cls, scalar in _SCALARS.items():
        made.register_structure_hook(cls, scalar.structure)
        made.register_unstructure_hook(cls, partial(_write, cls, scalar.write))
    _register_enums(made)
    configure_union_passthrough(str | bool | int | float | None, made)
    register_containers(made)
    made.register_structure_hook_factory(_is_class, _read_class)
    made.register_structure_hook_func(is_model, load)
    made.register_unstructure_hook_func(is_model, dump)
    return made


def _register_enums(converter: Converter) -> None:
    def write(member: Any) -> Any:
        return converter.unstructure(member.value) if isinstance(member, Enum) else member

    def read(value: Any, cls: type[Enum]) -> Enum:
        for member in cls:
            if write(member) == value:
                return member
        return cls(value)

    converter.register_structure_hook(Enum, read)
    converter.register_unstructure_hook(Enum, write)


def _is_class(cls: Any) -> bool:
    origin = get_origin(cls) or cls
    return isinstance(origin, type) and (is_dataclass(origin) or attrs.has(origin))


def _read_class(cls: Any, converter: Converter) -> Callable[[Any, Any], Any]:
    build = converter.gen_structure_attrs_fromdict(cls)

    def read(value: Any, _: Any) -> Any:
        if not isinstance(value, dict):
            raise ValueError(f"an object expected, not {value!r}")
        return build(value, cls)

    return read
