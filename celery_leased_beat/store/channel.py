"""The way to the lease's server: commands in, replies out, and what is said where none comes."""

from collections.abc import Sequence
from typing import Any, Protocol

from redis import ConnectionPool, Redis, SSLConnection
from redis.exceptions import RedisError

from celery_leased_beat.errors import StoreError
from celery_leased_beat.store.cluster import is_elsewhere

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
