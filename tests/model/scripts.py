"""The scripts of the store, run in this process on a :class:`Keyspace`, with or without a guard removed."""

from collections.abc import Collection, Sequence
from hashlib import sha1
from importlib.resources import files
from typing import Any

from lupa.lua51 import LuaError, LuaRuntime

from tests.model.edits import Edit, edited
from tests.model.keyspace import Keyspace, ReplyError


class Scripts:
    """All scripts of the store, known by the digests of their sources as they are, with ``edits`` made in them."""

    def __init__(self, edits: Collection[Edit] = ()) -> None:
        self._keyspace = Keyspace()
        self._lua = LuaRuntime(register_eval=False)
        self._lua.globals().redis = self._lua.table_from(
            {"call": self._call, "pcall": self._pcall, "error_reply": lambda text: self._lua.table_from({"err": text})}
        )
        self._functions: dict[str, Any] = {}
        self.names: dict[str, str] = {}
        self.sources: dict[str, str] = {}
        for file in files("celery_leased_beat.store").iterdir():
            name, _, suffix = file.name.rpartition(".")
            if suffix == "lua":
                source = file.read_text("utf-8")
                digest = sha1(source.encode(), usedforsecurity=False).hexdigest()
                self.names[digest] = name
                self.sources[name] = source
                self._functions[digest] = self._compiled(edited(name, source, edits))

    def run(self, keyspace: Keyspace, digest: str, keys: Sequence[str], arguments: Sequence[str]) -> Any:
        """Run the script with this digest and return its reply. Raises ``ReplyError`` for an error reply.

        As on Valkey, what was written before an error stays.
        """
        self._keyspace = keyspace
        try:
            return _reply(self._functions[digest](self._lua.table_from(keys), self._lua.table_from(arguments)))
        except LuaError as error:
            raise ReplyError(f"ERR {error}") from error

    def _compiled(self, source: str) -> Any:
        first, _, rest = source.partition("\n")
        assert first.startswith("#!lua"), first
        return self._lua.execute(f"return function(KEYS, ARGV)\n{rest}\nend")

    def _call(self, *command: str | float | None) -> Any:
        return self._from_reply(self._keyspace.call(*map(_text, command)))

    def _pcall(self, *command: str | float | None) -> Any:
        try:
            return self._call(*command)
        except ReplyError as error:
            return self._lua.table_from({"err": str(error)})

    def _from_reply(self, reply: Any) -> Any:
        if reply is None:
            return False
        if isinstance(reply, list):
            return self._lua.table_from([self._from_reply(element) for element in reply])
        return self._lua.table_from(reply) if isinstance(reply, dict) else reply


def _text(argument: str | float | None) -> str:
    """Return an argument of a command as Valkey takes it from Lua. Raises ``ReplyError`` for nil, which it refuses."""
    if argument is None:
        raise ReplyError("ERR Command arguments must be strings or integers")
    if isinstance(argument, str):
        return argument
    return str(int(argument)) if argument == int(argument) else format(argument, ".17g")


def _reply(value: Any) -> Any:
    """Return what a client gets for what a script returns."""
    if value is None or value is False:
        return None
    if isinstance(value, float | int):
        return int(value)
    if isinstance(value, str):
        return value
    if value["err"] is not None:
        raise ReplyError(value["err"])
    if value["ok"] is not None:
        return value["ok"]
    elements, index = [], 1
    while (element := value[index]) is not None:
        elements.append(_reply(element))
        index += 1
    return elements
