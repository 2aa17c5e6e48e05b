"""The options of a connection, checked before one is opened: with an odd value none could be, ever."""

import math
import ssl
from collections.abc import Callable, Mapping
from typing import Any


def checked(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options as a connection takes them. Raises ``ValueError`` for one that it would stumble over."""
    options = dict(given)
    for name, (wanted, read) in _CHECKS.items():
        if name in given:
            try:
                options[name] = read(given[name])
            except (ValueError, TypeError, KeyError, OverflowError):
                raise ValueError(f"{name} is {given[name]!r}: {wanted} is wanted") from None
    return options


def _seconds(value: Any) -> float:
    seconds = float(value)
    if not 0 < seconds < math.inf:
        raise ValueError
    return seconds


def _mapping(value: Any) -> dict[str, Any]:
    if not isinstance(value, Mapping):
        raise TypeError
    return dict(value)


def _tls_version(value: Any) -> ssl.TLSVersion:
    return ssl.TLSVersion[value] if isinstance(value, str) else ssl.TLSVersion(value)


#: What is wanted of an option, and what reads it.
_CHECKS: Mapping[str, tuple[str, Callable[[Any], Any]]] = {
    "socket_timeout": ("a number of seconds above zero", _seconds),
    "socket_connect_timeout": ("a number of seconds above zero", _seconds),
    "socket_keepalive_options": ("a dictionary", _mapping),
    "sentinel_kwargs": ("a dictionary", _mapping),
    "min_other_sentinels": ("a whole number", int),
    "ssl_min_version": ("a name of ssl.TLSVersion, such as TLSv1_2,", _tls_version),
}
