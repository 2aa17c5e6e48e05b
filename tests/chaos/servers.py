"""A Valkey that the faults are meant for."""

import shutil

import redis

from tests.nodes.valkey import LocalValkey


class HarmedValkey(LocalValkey):
    """A Valkey whose crash loses nothing that it has answered, and that can lose all its data on demand."""

    def __init__(self, name: str) -> None:
        super().__init__(name, "--appendonly", "yes", "--appendfsync", "no", "--auto-aof-rewrite-percentage", "0")
        self.client = redis.Redis.from_url(self.url, decode_responses=True, socket_timeout=5, socket_connect_timeout=5)

    def crash(self) -> None:
        self.kill()

    def forget(self) -> None:
        """Remove the data of a server that does not run."""
        assert not self.pid
        shutil.rmtree(self.log.parent / "appendonlydir")
        self.log.with_name("dump.rdb").unlink(missing_ok=True)

    def block(self, seconds: float = 60.0, *, reads: bool = False) -> None:
        """Hold back all writes, and all reads too, for so long."""
        self.client.client_pause(int(seconds * 1000), all=reads)

    def unblock(self) -> None:
        """Let writes go on; not possible where reads are held back too."""
        self.client.client_unpause()

    def flush_blocked(self) -> None:
        """Remove all data, and only then let the writes go on that are held back."""
        with self.client.pipeline(transaction=False) as pipeline:
            pipeline.execute_command("CLIENT", "UNPAUSE")
            pipeline.execute_command("FLUSHALL")
            pipeline.execute()

    def cut(self) -> None:
        self.client.execute_command("CLIENT", "KILL", "TYPE", "NORMAL", "SKIPME", "YES")
