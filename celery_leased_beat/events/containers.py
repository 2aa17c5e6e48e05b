"""Arrays and objects of a payload: text is no list of characters, and a key of an object is always text."""

import json
from collections import abc, deque
from collections.abc import Callable, Iterable, Mapping
from itertools import count, repeat
from typing import Any, get_args, get_origin

from cattrs import Converter
from cattrs.errors import IterableValidationError, IterableValidationNote

_ARRAYS: Mapping[object, Callable[[Iterable[Any]], Any]] = {
    list: list,
    tuple: tuple,
    set: set,
    frozenset: frozenset,
    deque: deque,
    abc.Sequence: tuple,
    abc.MutableSequence: list,
    abc.Set: frozenset,
    abc.MutableSet: set,
}
_SETS = (set, frozenset, abc.Set, abc.MutableSet)
_OBJECTS = (dict, abc.Mapping, abc.MutableMapping)


def register_containers(converter: Converter) -> None:
    """Teach ``converter`` how arrays and objects are written and read."""
    converter.register_unstructure_hook_factory(_is_set, _write_set)
    converter.register_structure_hook_factory(_is_array, _read_array)
    converter.register_structure_hook_factory(_is_object, _read_object)


def _is_set(cls: Any) -> bool:
    return _origin(cls) in _SETS


def _is_array(cls: Any) -> bool:
    return _origin(cls) in _ARRAYS


def _is_object(cls: Any) -> bool:
    return _origin(cls) in _OBJECTS


def _origin(cls: Any) -> Any:
    return get_origin(cls) or cls


def _write_set(cls: Any, converter: Converter) -> Callable[[Any], list[Any]]:
    return lambda values: sorted((converter.unstructure(value) for value in values), key=repr)


def _read_array(cls: Any, converter: Converter) -> Callable[[Any, Any], Any]:
    build, types = _ARRAYS[_origin(cls)], get_args(cls) or (Any,)
    is_record = _origin(cls) is tuple and get_args(cls)[1:] != (...,) and get_args(cls) != ()

    def read(value: Any, _: Any) -> Any:
        if not isinstance(value, list):
            raise ValueError(f"an array expected, not {value!r}")
        if is_record and len(value) != len(types):
            raise ValueError(f"an array of {len(types)} expected, not {value!r}")
        expected = types if is_record else repeat(types[0])
        return build(_each(converter, cls, zip(count(), value, expected, strict=False)))

    return read


def _read_object(cls: Any, converter: Converter) -> Callable[[Any, Any], Any]:
    key_type, value_type = get_args(cls) or (Any, Any)

    def read(value: Any, _: Any) -> Any:
        if not isinstance(value, dict):
            raise ValueError(f"an object expected, not {value!r}")
        keys = _each(converter, cls, ((key, key, key_type) for key in value), _read_key)
        values = _each(converter, cls, ((key, item, value_type) for key, item in value.items()))
        return dict(zip(keys, values, strict=True))

    return read


def _read_key(converter: Converter, key: str, key_type: Any) -> Any:
    """JSON made text of a number that was a key, so what does not fit as text is read as a number."""
    try:
        return converter.structure(key, key_type)
    except Exception:
        try:
            number = json.loads(key)
        except ValueError:
            number = key
        return converter.structure(number, key_type)


def _read_value(converter: Converter, value: Any, value_type: Any) -> Any:
    return converter.structure(value, value_type)


def _each(
    converter: Converter,
    cls: Any,
    items: Iterable[tuple[int | str, Any, Any]],
    read: Callable[[Converter, Any, Any], Any] = _read_value,
) -> list[Any]:
    """Read (index, value, type) one by one. Raises one error for all that do not fit, each with its index."""
    values, errors = [], []
    for index, value, value_type in items:
        try:
            values.append(read(converter, value, value_type))
        except Exception as error:
            error.add_note(IterableValidationNote(f"at {index!r}", index, value_type))
            errors.append(error)
    if errors:
        raise IterableValidationError(f"while reading {cls!r}", errors, cls)
    return values
