"""A TCP proxy on 127.0.0.1 that cuts, freezes, holds and loses what passes: the network's faults, without root."""

import socket
import struct
import threading
from collections.abc import Callable
from contextlib import suppress
from hashlib import sha1
from importlib.resources import files
from typing import Literal, Self

from examples.valkey import HOST

Side = Literal["request", "reply"]

#: SO_LINGER with no time: a close sends RST, as a firewall or a dead host does.
_RESET = struct.pack("ii", 1, 0)


class Proxy:
    """Hands on what clients of its own ``port`` and the server on the port ``target`` say to each other.

    ``lose_replies``: requests arrive, and the connection is cut in place of the reply. ``refuse``: new connections are
    cut at once. ``opened`` counts the connections that were accepted.
    """

    def __init__(self, target: int) -> None:
        self.lose_replies = False
        self.refuse = False
        self.opened = 0
        self._target = target
        self._links: set[_Link] = set()
        self._hold: Hold | None = None
        self._flowing = threading.Event()
        self._flowing.set()
        self._listener = socket.create_server((HOST, 0))
        self.port: int = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        # A close alone does not wake the thread that waits in accept.
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self.cut()
        self.thaw()

    @property
    def url(self) -> str:
        return f"redis://{HOST}:{self.port}/0"

    def cut(self) -> int:
        """Reset all connections and return how many there were; new ones are accepted."""
        links = list(self._links)
        for link in links:
            link.close(reset=True)
        return len(links)

    def redirect(self, target: int) -> None:
        """Hand on to the server on another port from now on, over new connections: as after a failover."""
        self._target = target
        self.cut()

    def freeze(self) -> None:
        """Let nothing pass, in old connections and new ones, as a firewall that drops packets does."""
        self._flowing.clear()

    def heal(self) -> None:
        """Hand on everything again, over new connections."""
        self.lose_replies = self.refuse = False
        self.cut()

    def thaw(self) -> None:
        """Let everything pass, what was kept back first."""
        self._flowing.set()
        if self._hold:
            self._hold.release()

    def hold(self, pattern: bytes, side: Side) -> "Hold":
        """Keep back the next request with ``pattern``, or the reply to it, and all that follows in its connection."""
        self._hold = Hold(pattern, side)
        return self._hold

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            self.opened += 1
            if self.refuse:
                client.close()
                continue
            try:
                server = socket.create_connection((HOST, self._target))
            except OSError:
                client.close()
                continue
            link = _Link(client, server, gate=self._pass, ended=self._links.discard)
            self._links.add(link)
            link.start()

    def _pass(self, link: "_Link", side: Side, chunk: bytes) -> bool:
        """Return once ``chunk`` may go on, or whether it is lost, and its connection with it."""
        self._flowing.wait()
        if self._hold:
            self._hold.look(link, side, chunk)
        return not (self.lose_replies and side == "reply")


class Hold:
    """One message that is kept back; ``seen`` is set once there is one."""

    def __init__(self, pattern: bytes, side: Side) -> None:
        self.seen = threading.Event()
        self._pattern = pattern
        self._side = side
        self._link: _Link | None = None
        self._released = threading.Event()

    def wait(self, seconds: float = 30.0) -> None:
        """Return once a message was kept back (a reply: once its request has gone on)."""
        assert self.seen.wait(seconds), f"not within {seconds:g} s: a message with {self._pattern!r}"

    def release(self) -> None:
        """Let it go on, and keep back no other."""
        self._released.set()

    def look(self, link: "_Link", side: Side, chunk: bytes) -> None:
        """Return once ``chunk`` may go on."""
        if self._released.is_set():
            return
        if side == "request" and self._link is None and self._pattern in chunk:
            self._link = link
            self.seen.set()
        if link is self._link and side == self._side:
            self._released.wait()


def script(name: str) -> bytes:
    """Return what a call of one of the store's scripts has in it: the digest of its source."""
    source = files("celery_leased_beat.store").joinpath(f"{name}.lua").read_bytes()
    return sha1(source, usedforsecurity=False).hexdigest().encode()


class _Link:
    """One client's connection and the proxy's own to the server."""

    def __init__(
        self,
        client: socket.socket,
        server: socket.socket,
        *,
        gate: Callable[["_Link", Side, bytes], bool],
        ended: Callable[["_Link"], None],
    ) -> None:
        self._client = client
        self._server = server
        self._gate = gate
        self._ended = ended

    def start(self) -> None:
        for arguments in ((self._client, self._server, "request"), (self._server, self._client, "reply")):
            threading.Thread(target=self._pump, args=arguments, daemon=True).start()

    def close(self, *, reset: bool) -> None:
        for end in (self._client, self._server):
            with suppress(OSError):
                if reset:
                    end.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
                # Wakes the pump that reads from it: while it does, a close has no effect.
                end.shutdown(socket.SHUT_RD if reset else socket.SHUT_RDWR)
            end.close()
        self._ended(self)

    def _pump(self, source: socket.socket, sink: socket.socket, side: Side) -> None:
        with suppress(OSError):
            while chunk := source.recv(65536):
                if not self._gate(self, side, chunk):
                    break
                sink.sendall(chunk)
            else:
                # The end of a connection is kept back as any packet is.
                self._gate(self, side, b"")
        self.close(reset=False)
