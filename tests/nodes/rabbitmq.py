"""A RabbitMQ node of this machine, with its own name, ports, folder and port mapper: it meets no other Erlang node."""

import os
import shutil
import signal
import socket
import subprocess
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Self

from kombu import Connection

from examples.valkey import HOST, free_port
from tests.nodes.programs import missing
from tests.nodes.waiting import wait_until

#: Debian keeps the programs of RabbitMQ here; the ones in /usr/sbin change to its own user and to its own folders.
FOLDERS = ("/usr/lib/rabbitmq/bin", "/usr/sbin", "/usr/local/sbin", "/opt/rabbitmq/sbin")
#: Seconds that a start may take; it takes about eight on a busy machine.
START = 90.0


class LocalRabbitMQ:
    """One node. It can be stopped, killed, paused and started again with its data."""

    def __init__(self) -> None:
        self._program, self._mapper_program = _program("rabbitmq-server"), _program("epmd")
        self.port, self._distribution_port, self._mapper_port = free_port(), free_port(), free_port()
        self._folder = TemporaryDirectory(prefix="rabbitmq-", ignore_cleanup_errors=True)
        self._root = Path(self._folder.name)
        self._node: subprocess.Popen[bytes] | None = None
        self._mapper: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def url(self) -> str:
        return f"amqp://guest:guest@{HOST}:{self.port}//"

    def start(self) -> None:
        """Start it, and wait until it takes a client."""
        self._start_mapper()
        (self._root / "plugins").write_text("[].")
        (self._root / "rabbitmq.conf").write_text("log.console = false\n")
        self._node = subprocess.Popen(
            [self._program], env={**os.environ, **self._environment()}, cwd=self._root, start_new_session=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        wait_until(self._takes_clients, f"RabbitMQ on port {self.port}, see {self._root}/log", START)

    def stop(self) -> None:
        """Let it end by itself, with its data."""
        if self._node:
            self._node.terminate()
            self._node.wait(START)

    def kill(self) -> None:
        """End it at once, as a crash does."""
        if self._node:
            with suppress(ProcessLookupError):
                os.killpg(self._node.pid, signal.SIGKILL)
            self._node.wait(START)

    def pause(self) -> None:
        """Freeze it: nothing answers, and its connections stay."""
        if self._node:
            self._node.send_signal(signal.SIGSTOP)

    def resume(self) -> None:
        if self._node:
            self._node.send_signal(signal.SIGCONT)

    def close(self) -> None:
        """End it and remove its data."""
        self.kill()
        if self._mapper:
            self._mapper.kill()
            self._mapper.wait()
        self._folder.cleanup()

    def _environment(self) -> dict[str, str]:
        names = {
            "NODENAME": f"clb{self.port}@localhost", "NODE_IP_ADDRESS": HOST, "NODE_PORT": self.port,
            "DIST_PORT": self._distribution_port, "MNESIA_BASE": self._root / "data", "LOG_BASE": self._root / "log",
            "PID_FILE": self._root / "pid", "ENABLED_PLUGINS_FILE": self._root / "plugins",
            "CONFIG_FILE": self._root / "rabbitmq.conf", "CONF_ENV_FILE": os.devnull,
            # So the script becomes the node, instead of its parent.
            "ALLOW_INPUT": 1,
            # One scheduler that does not spin: the tests share two cores.
            "SERVER_ADDITIONAL_ERL_ARGS": "-noinput +S 1:1 +sbwt none -start_epmd false",
        }  # fmt: skip
        return {
            "HOME": str(self._root), "ERL_EPMD_ADDRESS": HOST, "ERL_EPMD_PORT": str(self._mapper_port),
            **{f"RABBITMQ_{name}": str(value) for name, value in names.items()},
        }  # fmt: skip

    def _start_mapper(self) -> None:
        """Start Erlang's port mapper as a child of ours; else the node starts one that outlives it."""
        if self._mapper is None:
            self._mapper = subprocess.Popen(
                [self._mapper_program, "-port", str(self._mapper_port), "-address", HOST], stderr=subprocess.DEVNULL
            )
            wait_until(lambda: _listens(self._mapper_port), "Erlang's port mapper", START)

    def _takes_clients(self) -> bool:
        assert self._node, "it was not started"
        assert self._node.poll() is None, f"RabbitMQ ended with {self._node.returncode}"
        if not _listens(self.port):
            return False
        try:
            with Connection(self.url, connect_timeout=5) as connection:
                connection.connect()
        except Exception:
            return False
        return True


def _program(name: str) -> str:
    found = shutil.which(name, path=os.pathsep.join([*FOLDERS, *os.get_exec_path()]))
    if not found:
        missing(f"{name} is not installed")
    return found


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex((HOST, port)) == 0
