"""A TCP proxy in front of a server, which loses replies, falls silent or refuses on demand."""

import socket
import threading
from contextlib import suppress
from types import TracebackType
from typing import Self


class Proxy:
    """Forwards to ``port`` on 127.0.0.1.

    ``lose_replies``: requests arrive, the connection is cut in place of the reply. ``silent``: nothing is forwarded any
    more, connections are taken and stay open. ``refuse``: new connections are cut at once.
    """

    def __init__(self, port: int) -> None:
        self.lose_replies = False
        self.silent = False
        self.refuse = False
        self.opened = 0
        self._target = ("127.0.0.1", port)
        self._sockets: set[socket.socket] = set()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self.port}/0"

    def cut(self) -> None:
        """Cut all connections."""
        for end in list(self._sockets):
            _close(end)
        self._sockets.clear()

    def heal(self) -> None:
        """Forward everything again, over new connections."""
        self.lose_replies = self.silent = self.refuse = False
        self.cut()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        _close(self._listener)
        self.cut()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                near, _ = self._listener.accept()
                self.opened += 1
                self._serve(near)

    def _serve(self, near: socket.socket) -> None:
        if self.refuse:
            _close(near)
            return
        try:
            far = socket.create_connection(self._target)
        except OSError:
            _close(near)
            return
        self._sockets |= {near, far}
        threading.Thread(target=self._pump, args=(near, far, False), daemon=True).start()
        threading.Thread(target=self._pump, args=(far, near, True), daemon=True).start()

    def _pump(self, source: socket.socket, sink: socket.socket, is_reply: bool) -> None:
        with suppress(OSError):
            while data := source.recv(65536):
                if self.silent:
                    continue
                if is_reply and self.lose_replies:
                    break
                sink.sendall(data)
        _close(source)
        _close(sink)


def _close(end: socket.socket) -> None:
    with suppress(OSError):
        end.shutdown(socket.SHUT_RDWR)
    with suppress(OSError):
        end.close()
