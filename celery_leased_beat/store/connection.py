"""The connection of the election's thread: one, outside any pool, with a bound for a whole call.

After any failure it is closed, and the next call opens a new one. A forked child closes its copy of the socket without
a word: while a copy is open, the server goes on to list the connection of a process that is dead.
"""

import os
import selectors
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from typing import Any
from weakref import WeakSet

from redis import ConnectionPool
from redis.exceptions import RedisError, ResponseError

from celery_leased_beat.store.channel import Command, unreachable
from celery_leased_beat.store.cluster import is_elsewhere
from celery_leased_beat.store.rights import note_refusal

_ALL: "WeakSet[Connection]" = WeakSet()


class Connection:
    """A channel for one thread; ``pool`` says where to, ``timeout`` bounds a whole call.

    Looking a host name up is not bounded: it is the resolver's.
    """

    def __init__(self, pool: ConnectionPool, timeout: timedelta) -> None:
        self._pool = pool
        self._timeout = timeout.total_seconds()
        self._connection: Any = None
        self._client_id = "-"
        self._deadline: float | None = None
        _ALL.add(self)

    @property
    def is_open(self) -> bool:
        """Whether it is connected, as far as is known."""
        return self._connection is not None

    @contextmanager
    def call(self) -> Iterator[str]:
        """Let all that is sent in the block share one bound, the connect included.

        Gives the server's CLIENT ID of this connection, "-" where it does not say. Raises ``StoreError``.
        """
        self._deadline = time.monotonic() + self._timeout
        try:
            self.execute([])  # opens it, where that is needed
            yield self._client_id
        finally:
            self._deadline = None

    def execute(self, commands: Sequence[Command], patience: timedelta = timedelta()) -> list[Any]:
        """Send all in one round trip; ``patience`` is what a blocking command may take on top. See ``Channel``."""
        deadline = self._deadline or time.monotonic() + self._timeout
        try:
            connection = self._connected(deadline)
            return _exchange(connection, commands, deadline, patience.total_seconds())
        except (RedisError, OSError) as error:
            self.close()
            raise unreachable(error, self._pool) from error
        except BaseException:
            self.close()
            raise

    def wait(self, wait: float, wake: int) -> bool:
        """Sleep for ``wait`` seconds, or until the descriptor ``wake`` can be read.

        Returns whether the connection broke meanwhile; it is closed then. One that was closed before is not watched.
        """
        deadline = time.monotonic() + wait
        with selectors.DefaultSelector() as selector:
            selector.register(wake, selectors.EVENT_READ)
            if self._connection is not None:
                selector.register(self._connection._sock, selectors.EVENT_READ)
            while (left := deadline - time.monotonic()) > 0:
                readable = [key.fd for key, _ in selector.select(left)]
                if wake in readable:
                    return False
                if readable and self._is_broken():
                    return True
        return False

    def close(self) -> None:
        """Close the socket, if there is one. Never connects, never raises."""
        connection, self._connection = self._connection, None
        self._client_id = "-"
        if connection is not None:
            connection.disconnect()

    def close_copy(self) -> None:
        """Close a forked child's copy of the socket, which leaves the parent's as it is."""
        connection, self._connection = self._connection, None
        if connection is not None and connection._sock is not None:
            connection._sock.close()

    def _connected(self, deadline: float) -> Any:
        if self._connection is None:
            self._connection = self._pool.connection_class(**self._pool.connection_kwargs)
            self._connection.connect()
            (reply,) = _exchange(self._connection, [("CLIENT", "ID")], deadline)
            note_refusal(reply, "CLIENT")
            self._client_id = "-" if isinstance(reply, ResponseError) else str(reply)
        return self._connection

    def _is_broken(self) -> bool:
        """Return whether a connection that should be silent is not; a TLS record of the server's own is no answer."""
        try:
            broken = self._connection is None or self._connection.can_read(0)
        except (RedisError, OSError):
            broken = True
        if broken:
            self.close()
        return broken


def _exchange(connection: Any, commands: Sequence[Command], deadline: float, patience: float = 0.0) -> list[Any]:
    if not commands:
        return []
    _limit(connection, deadline)
    connection.send_packed_command(connection.pack_commands(commands))
    return [_reply(connection, deadline + patience) for _ in commands]


def _reply(connection: Any, deadline: float) -> Any:
    _limit(connection, deadline)
    try:
        return connection.read_response()
    except ResponseError as error:
        if is_elsewhere(error):
            raise  # the primary was demoted, or the slot moved: where to go is found by a new connection
        return error


def _limit(connection: Any, deadline: float) -> None:
    left = deadline - time.monotonic()
    if left <= 0:
        raise TimeoutError("the time for the whole call is over")
    connection._sock.settimeout(left)


def _close_copies() -> None:
    for connection in list(_ALL):
        connection.close_copy()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_close_copies)
