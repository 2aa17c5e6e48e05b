"""A wake-up that a signal handler may ring.

``Event``, ``Lock`` and ``Queue`` hang where a signal interrupts the thread that is inside them; writing one byte to a
socket pair does not.
"""

import select
import socket
from contextlib import suppress


class Waker:
    """Wakes the thread that waits in :meth:`wait`; ringing twice wakes once."""

    def __init__(self) -> None:
        self._reader, self._writer = socket.socketpair()
        self._reader.setblocking(False)
        self._writer.setblocking(False)

    def fileno(self) -> int:
        """Return the descriptor that is readable once the waker was rung."""
        return self._reader.fileno()

    def wake(self) -> None:
        """Ring, from any thread or signal handler."""
        with suppress(OSError):
            self._writer.send(b"\0")

    def clear(self) -> bool:
        """Forget all rings so far; return whether there were any."""
        rung = False
        with suppress(OSError):
            while self._reader.recv(4096):
                rung = True
        return rung

    def wait(self, seconds: float) -> None:
        """Wait until rung, for ``seconds`` at most, and forget the ring."""
        with suppress(OSError, ValueError):
            select.select([self._reader], [], [], max(0.0, seconds))
        self.clear()

    def close(self) -> None:
        """Close both ends."""
        self._reader.close()
        self._writer.close()
