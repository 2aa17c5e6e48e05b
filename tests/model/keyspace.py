"""The part of Valkey that our scripts use, in memory and in virtual time.

It is checked against the real server (``test_keyspace``). A key that is about to end does so after its last
millisecond; a hash or a list without elements is gone.
"""

import re
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

Value = str | dict[str, str] | list[str] | tuple[Any, ...]
#: What a keyspace holds, in a form that can be compared and hashed: key, type, value, and when it ends (ms).
Frozen = tuple[tuple[str, str, Any, int | None], ...]

Kind = TypeVar("Kind", str, dict, list, tuple)

_NAMES = {str: "string", dict: "hash", list: "list", tuple: "stream"}


class ReplyError(Exception):
    """An error reply; the first word says which."""


class Keyspace:
    """Keys and their values at ``now`` (ms). ``call`` takes a command as a script gives it, and returns its reply."""

    def __init__(self, now: int = 0, frozen: Frozen = (), *, run_id: str = "run") -> None:
        self.now = now
        self.run_id = run_id
        self.values: dict[str, Value] = {key: _thawed(kind, value) for key, kind, value, _ in frozen}
        self.ends: dict[str, int] = {key: ends for key, _, _, ends in frozen if ends is not None}

    def freeze(self) -> Frozen:
        return tuple(
            (key, _NAMES[type(value)], _frozen(value), self.ends.get(key)) for key, value in sorted(self.values.items())
        )

    def call(self, name: str, *arguments: str) -> Any:
        for key in [key for key, ends in self.ends.items() if self.now > ends]:
            self._drop(key)
        command: Callable[..., Any] | None = getattr(self, f"_{name.lower()}", None)
        if command is None:
            raise ReplyError(f"ERR unknown command '{name}'")
        return command(*arguments)

    def _read(self, key: str, kind: type[Kind]) -> Kind | None:
        value = self.values.get(key)
        if value is not None and not isinstance(value, kind):
            raise ReplyError("WRONGTYPE Operation against a key holding the wrong kind of value")
        return value

    def _drop(self, key: str) -> bool:
        self.ends.pop(key, None)
        return self.values.pop(key, None) is not None

    def _time(self) -> list[str]:
        return [str(self.now // 1000), str(self.now % 1000 * 1000)]

    def _info(self, section: str) -> str:
        return f"# Server\r\nrun_id:{self.run_id}\r\n"

    def _get(self, key: str) -> str | None:
        return self._read(key, str)

    def _set(self, key: str, value: str, option: str = "", ttl: str = "") -> Mapping[str, str]:
        if option != "KEEPTTL":
            self._drop(key)
        self.values[key] = value
        if option == "PX":
            self.ends[key] = self.now + int(ttl)
        return {"ok": "OK"}

    def _del(self, *keys: str) -> int:
        return sum(self._drop(key) for key in keys)

    def _pexpire(self, key: str, ttl: str) -> int:
        if key in self.values:
            self.ends[key] = self.now + int(ttl)
        return int(key in self.values)

    def _hget(self, key: str, field: str) -> str | None:
        return (self._read(key, dict) or {}).get(field)

    def _hmget(self, key: str, *fields: str) -> list[str | None]:
        return [self._hget(key, field) for field in fields]

    def _hset(self, key: str, *pairs: str) -> int:
        fields = self._read(key, dict) or {}
        before = len(fields)
        fields.update(zip(pairs[::2], pairs[1::2], strict=True))
        self.values[key] = fields
        return len(fields) - before

    def _hsetnx(self, key: str, field: str, value: str) -> int:
        return 0 if self._hget(key, field) is not None else self._hset(key, field, value)

    def _hdel(self, key: str, *names: str) -> int:
        fields = self._read(key, dict) or {}
        gone = sum(fields.pop(name, None) is not None for name in names)
        if not fields:
            self._drop(key)
        return gone

    def _hlen(self, key: str) -> int:
        return len(self._read(key, dict) or {})

    def _hkeys(self, key: str) -> list[str]:
        return list(self._read(key, dict) or {})

    def _hgetall(self, key: str) -> list[str]:
        return [text for pair in (self._read(key, dict) or {}).items() for text in pair]

    def _hscan(self, key: str, cursor: str, *_: str) -> list[Any]:
        return ["0", self._hgetall(key)]

    def _rpush(self, key: str, *values: str) -> int:
        elements = self._read(key, list) or []
        self.values[key] = [*elements, *values]
        return len(elements) + len(values)

    def _xlen(self, key: str) -> int:
        return len(self._read(key, tuple) or ())

    def _xadd(self, key: str, *arguments: str) -> str:
        stream = self._read(key, tuple) or ()
        start = arguments.index("*") + 1
        milliseconds, number = map(int, re.split("-", stream[-1][0])) if stream else (0, 0)
        number = number + 1 if milliseconds >= self.now else 0
        identity = f"{max(milliseconds, self.now)}-{number}"
        self.values[key] = (*stream, (identity, arguments[start:]))
        return identity


def _frozen(value: Value) -> Any:
    if isinstance(value, dict):
        return tuple(value.items())
    return tuple(value) if isinstance(value, list) else value


def _thawed(kind: str, value: Any) -> Value:
    if kind == "hash":
        return dict(value)
    return list(value) if kind == "list" else value
