"""A primary, its replica and a Sentinel that watches them, each a process of this machine."""

import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Self

import redis

from examples.valkey import HOST, PATIENCE, Server, free_port, program
from tests.nodes.waiting import wait_until

PRIMARY = "main"


class Sentinel:
    """Watches one primary, and promotes its replica within about two seconds once it is gone.

    It promotes none that was out of step for over ten times what makes it call the primary down, so that is a second: a
    test that lets a replica fall behind has ten.
    """

    def __init__(self, primary_port: int, *options: str) -> None:
        self.port = free_port()
        self._options = options
        self._folder = TemporaryDirectory(prefix="sentinel-", ignore_cleanup_errors=True)
        self._file = Path(self._folder.name, "sentinel.conf")
        self._file.write_text(
            f"""port {self.port}
bind {HOST}
dir {self._folder.name}
sentinel monitor {PRIMARY} {HOST} {primary_port} 1
sentinel down-after-milliseconds {PRIMARY} 1000
sentinel failover-timeout {PRIMARY} 2000
"""
        )
        self._process: subprocess.Popen[bytes] | None = None
        self.client = redis.Redis(port=self.port, decode_responses=True)

    def __enter__(self) -> Self:
        with Path(self._folder.name, "log").open("ab") as log:
            self._process = subprocess.Popen(
                [program(), self._file, "--sentinel", *self._options], stdout=log, stderr=log, start_new_session=True
            )
        wait_until(lambda: _answers(self.client), "Sentinel answers", PATIENCE)
        return self

    def __exit__(self, *_: object) -> None:
        self.client.close()
        if self._process:
            self._process.kill()
            self._process.wait(PATIENCE)
        self._folder.cleanup()

    @property
    def url(self) -> str:
        return f"sentinel://{HOST}:{self.port}/0"

    def primary_port(self) -> int:
        return int(self.client.sentinel_get_master_addr_by_name(PRIMARY)[1])

    def state(self) -> dict[str, Any]:
        return dict(self.client.sentinel_master(PRIMARY))


class Watched:
    """A pair of servers and their Sentinel; ``link_port`` is where the replica reaches its primary, if not directly."""

    def __init__(self, *options: str) -> None:
        self.primary, self.replica = Server(*options), Server(*options)
        self.sentinel = Sentinel(self.primary.port)

    def __enter__(self) -> Self:
        self.primary.start()
        self.replica.start()
        self.follow(self.primary.port)
        self.sentinel.__enter__()
        wait_until(lambda: self.sentinel.state()["num-slaves"] == 1, "Sentinel knows the replica", PATIENCE)
        return self

    def __exit__(self, *_: object) -> None:
        self.sentinel.__exit__()
        for server in (self.primary, self.replica):
            server.close()

    @property
    def url(self) -> str:
        return self.sentinel.url

    @property
    def transport_options(self) -> dict[str, Any]:
        return {"master_name": PRIMARY}

    def follow(self, port: int) -> None:
        """Make the replica one of the server on ``port``, and wait until it is in step."""
        with redis.Redis(port=self.replica.port, decode_responses=True) as replica:
            replica.replicaof(HOST, str(port))
            wait_until(lambda: replica.info("replication")["master_link_status"] == "up", "the replica in step")

    def promoted(self) -> None:
        """Wait until the replica is the primary, and takes writes."""
        with redis.Redis(port=self.replica.port, decode_responses=True) as replica:
            wait_until(lambda: replica.info("replication")["role"] == "master", "the replica is promoted", PATIENCE)


def _answers(client: redis.Redis) -> bool:
    try:
        return bool(client.ping())
    except redis.RedisError:
        return False
