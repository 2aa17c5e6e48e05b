"""Lua scripts: a file each, sent by digest, and by source where the server does not know them.

The first two values that a script returns are the server's TIME. A script that is fenced returns an error that begins
with ``FENCED``.
"""

from collections.abc import Sequence
from functools import cache
from hashlib import sha1
from importlib.resources import files
from typing import Any, NamedTuple

from redis.exceptions import NoScriptError, ResponseError

from celery_leased_beat.errors import FencedError, StoreError
from celery_leased_beat.store.channel import Argument, Channel, Command
from celery_leased_beat.store.clock import ServerClock, instant
from celery_leased_beat.store.rights import is_refused_in_script, note_lack, without_time


class Call(NamedTuple):
    """One run of a script: the name of its file, its KEYS and its ARGV."""

    script: str
    keys: Sequence[str]
    arguments: Sequence[Argument]


class Scripts:
    """Runs scripts over a channel and hands the time in their answers to the clock."""

    def __init__(self, channel: Channel, clock: ServerClock | None = None) -> None:
        self._channel = channel
        self._clock = clock
        self._timeless = False

    def run(self, script: str, keys: Sequence[str], arguments: Sequence[Argument]) -> list[Any]:
        """Run one script and return what it answers after the time."""
        return self.run_all([Call(script, keys, arguments)])[0]

    def run_all(self, calls: Sequence[Call]) -> list[list[Any]]:
        """Run all in one round trip. Scripts that the server does not know yet run after those that it knows."""
        clock = self._clock
        sent = clock.elapsed() if clock else 0.0
        answers = [_answer(call, reply) for call, reply in zip(calls, self._replies(calls), strict=True)]
        if clock and answers:
            clock.observe(sent, clock.elapsed(), instant(answers[0]))
        return [answer[2:] for answer in answers]

    def _replies(self, calls: Sequence[Call]) -> list[Any]:
        replies = self._sent(calls, self._timeless)
        if not self._timeless and any(map(is_refused_in_script, replies)):
            replies = self._sent(calls, timeless=True)
            if not any(map(is_refused_in_script, replies)):
                self._timeless = True
                note_lack("TIME")
        return replies

    def _sent(self, calls: Sequence[Call], timeless: bool) -> list[Any]:
        replies = self._channel.execute([_by_digest(call, timeless) for call in calls])
        unknown = [index for index, reply in enumerate(replies) if isinstance(reply, NoScriptError)]
        if unknown:
            again = self._channel.execute([_by_source(calls[index], timeless) for index in unknown])
            for index, reply in zip(unknown, again, strict=True):
                replies[index] = reply
        return replies


def _answer(call: Call, reply: Any) -> list[Any]:
    if isinstance(reply, list):
        return reply
    text = str(reply)
    if isinstance(reply, ResponseError) and text.startswith("FENCED"):
        raise FencedError(text.removeprefix("FENCED").strip())
    raise StoreError(f"the lease's server refused {call.script}.lua: {type(reply).__name__}: {text}")


def _by_digest(call: Call, timeless: bool) -> Command:
    return ("EVALSHA", _script(call.script, timeless)[1], len(call.keys), *call.keys, *call.arguments)


def _by_source(call: Call, timeless: bool) -> Command:
    return ("EVAL", _script(call.script, timeless)[0], len(call.keys), *call.keys, *call.arguments)


@cache
def _script(name: str, timeless: bool) -> tuple[str, str]:
    source = files(__package__).joinpath(f"{name}.lua").read_text("utf-8")
    if timeless:
        source = without_time(source)
    return source, sha1(source.encode(), usedforsecurity=False).hexdigest()
