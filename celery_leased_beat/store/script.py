"""Lua scripts: a file each, sent by digest, and by source where the server does not know them.

The first two values that a script returns are the server's TIME. A script that is fenced returns an error that begins
with ``FENCED``.
"""

from collections.abc import Sequence
from datetime import datetime
from functools import cache
from hashlib import sha1
from importlib.resources import files
from typing import Any, NamedTuple, Protocol

from redis import ConnectionPool, Redis, SSLConnection
from redis.exceptions import NoScriptError, RedisError, ResponseError

from celery_leased_beat.errors import FencedError, StoreError
from celery_leased_beat.fires import from_milliseconds
from celery_leased_beat.store.clock import ServerClock
from celery_leased_beat.store.cluster import is_elsewhere
from celery_leased_beat.store.rights import is_refused_in_script, note_lack, without_time

_CERTIFICATE = "ssl_certfile and ssl_keyfile are options of leased_beat_backend"
#: Where to look, by what stands in an error: the server's certificate was refused, ours was, or a Cluster was met.
_ADVICE = {
    "CERTIFICATE_VERIFY_FAILED": "ssl_ca_certs and ssl_check_hostname are options of leased_beat_backend",
    "_ALERT_": _CERTIFICATE,
    "EOF occurred in violation of protocol": _CERTIFICATE,
    "MovedError": "the URL of a Cluster begins with redis+cluster://",
    "ResponseError: MOVED": "the URL of a Cluster begins with redis+cluster://",
}

#: How a connection ends whose server misses our certificate, where its word for that is lost with the connection.
_CUT = ("Connection reset", "Broken pipe", "Connection closed by server")

Argument = str | int
Command = Sequence[Argument]


class Channel(Protocol):
    """A way to the server."""

    def execute(self, commands: Sequence[Command]) -> list[Any]:
        """Send all in one round trip and return a reply each; an error reply is returned, not raised.

        Raises ``StoreError`` where no answer came.
        """


class Pooled:
    """The channel over a client with a pool: any thread may use it."""

    def __init__(self, client: Redis) -> None:
        self._client = client

    def execute(self, commands: Sequence[Command]) -> list[Any]:
        """See :class:`Channel`."""
        pipeline: Any = self._client.pipeline(transaction=False)
        for command in commands:
            pipeline.execute_command(*command)
        try:
            replies: list[Any] = pipeline.execute(raise_on_error=False)
        except (RedisError, OSError) as error:
            raise unreachable(error, self._client.connection_pool) from error
        if any(map(is_elsewhere, replies)):
            self._client.connection_pool.disconnect()
        return replies


def ask(channel: Channel, *commands: Command) -> list[Any]:
    """Send all in one round trip and return a reply each. Raises ``StoreError`` where one of them is refused, too."""
    replies = channel.execute(commands)
    for command, reply in zip(commands, replies, strict=True):
        if isinstance(reply, Exception):
            raise StoreError(f"the lease's server refused {command[0]}: {type(reply).__name__}: {reply}")
    return replies


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


def instant(time: Sequence[Any]) -> datetime:
    """Return what TIME (seconds and microseconds) says, to the millisecond, as every instant here is."""
    return from_milliseconds(int(time[0]) * 1000 + int(time[1]) // 1000)


def unreachable(error: Exception, pool: ConnectionPool) -> StoreError:
    """Return the exception for a call over a connection of ``pool`` that got no answer."""
    problem = f"{type(error).__name__}: {error}"
    advice = "".join(f" ({text})" for sign, text in _ADVICE.items() if sign in problem)
    if not advice and _shows_no_certificate(pool) and any(sign in problem for sign in _CUT):
        advice = f" (if it asks for a certificate: {_CERTIFICATE})"
    return StoreError(f"the lease's server gave no answer: {problem}{advice}")


def _shows_no_certificate(pool: ConnectionPool) -> bool:
    has_tls = issubclass(pool.connection_class, SSLConnection)
    return has_tls and not pool.connection_kwargs.get("ssl_certfile")


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
