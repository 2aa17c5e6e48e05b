"""Valkey as the model has it: a step from one state to the next, for the commands of our clients.

A state is known by a number. Unless the server is ``timed``, it leaves out when a key ends, and until when a marker is
held: both end when the world says so. The history is left out too, since no script reads it: what was written is handed
over with the replies. So is the wake-up of a release, since nobody waits for one here.
"""

from collections.abc import Mapping
from functools import cache
from typing import Any, NamedTuple

from celery_leased_beat.store import Keys
from tests.model.keyspace import Frozen, Keyspace, ReplyError
from tests.model.scripts import Scripts

#: Until when a marker is held that is held: until the world ends it.
HELD = "9999999999999"

Command = tuple[str | int, ...]


class Refused(NamedTuple):
    """An error reply."""

    text: str


class Executed(NamedTuple):
    """What came of some commands: the next state, a reply each, and what was written to the history."""

    state: int
    replies: tuple[Any, ...]
    records: tuple[Mapping[str, str], ...]


class Server:
    """The states of one server that knows all scripts. State 0 is empty."""

    def __init__(self, scripts: Scripts, keys: Keys, *, timed: bool = False) -> None:
        self._timed = timed
        self._scripts = scripts
        self._keys = keys
        self._states: list[Frozen] = [()]
        self._numbers: dict[Frozen, int] = {(): 0}
        self.execute = cache(self._execute)
        self.changed = cache(self._changed)
        self.get = cache(self._get)
        self.script_of = cache(self._script_of)

    def _execute(self, state: int, now: int, commands: tuple[Command, ...]) -> Executed:
        """Run all commands at ``now``, one after the other."""
        keyspace = Keyspace(now, self._states[state])
        replies = tuple(_frozen(self._reply(keyspace, command)) for command in commands)
        keyspace.call("DEL", self._keys.wake)
        written: Any = keyspace.values.pop(self._keys.history, ())
        records = tuple(dict(zip(fields[::2], fields[1::2], strict=True)) for _, fields in written)
        return Executed(self._number(keyspace), replies, records)

    def _changed(self, state: int, *command: str, now: int = 0) -> int:
        """Return the state after something else than our code ran a command."""
        keyspace = Keyspace(now, self._states[state])
        keyspace.call(*command)
        return self._number(keyspace)

    def _get(self, state: int, key: str, now: int = 0) -> Any:
        """Return the value of ``key``: text, a dict, or None."""
        keyspace = Keyspace(now, self._states[state])
        keyspace.call("TIME")  # what is over goes with any command
        return keyspace.values.get(key)

    def ends(self, state: int, key: str) -> int:
        """Return when ``key`` ends (ms), 0 where it does not."""
        return Keyspace(0, self._states[state]).ends.get(key, 0)

    def _script_of(self, command: Command) -> tuple[str, tuple[str, ...]]:
        """Return the script that ``command`` runs, "" for none, and its ARGV."""
        if command[0] != "EVALSHA":
            return "", ()
        return self._scripts.names[str(command[1])], tuple(map(str, command[3 + int(command[2]) :]))

    def _reply(self, keyspace: Keyspace, command: Command) -> Any:
        name, *arguments = map(str, command)
        try:
            if name == "EVALSHA":
                digest, count, *rest = arguments
                return self._scripts.run(keyspace, digest, rest[: int(count)], rest[int(count) :])
            return keyspace.call(name, *arguments)
        except ReplyError as error:
            return Refused(str(error))

    def _number(self, keyspace: Keyspace) -> int:
        frozen = keyspace.freeze()
        if not self._timed:
            frozen = tuple((key, kind, _timeless(kind, value), None) for key, kind, value, _ in frozen)
        if frozen not in self._numbers:
            self._numbers[frozen] = len(self._states)
            self._states.append(frozen)
        return self._numbers[frozen]


def _frozen(reply: Any) -> Any:
    return tuple(map(_frozen, reply)) if isinstance(reply, list) else reply


def _timeless(kind: str, value: Any) -> Any:
    if kind != "hash":
        return value
    return tuple(sorted((field, HELD if field == "hold" and text != "0" else text) for field, text in value))
