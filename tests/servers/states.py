"""States of a server in which it answers, and refuses."""

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from tempfile import mkdtemp

import redis

from examples.valkey import HOST, Server
from tests.nodes.waiting import wait_until

State = Callable[[Server], AbstractContextManager[object]]


@contextmanager
def readonly(server: Server) -> Iterator[None]:
    """A primary that was demoted."""
    with _client(server) as client:
        client.replicaof(HOST, "1")
        yield
        client.replicaof("NO", "ONE")


@contextmanager
def masterdown(server: Server) -> Iterator[None]:
    """A replica without its primary, that shows nothing stale."""
    with _configured(server, "replica-serve-stale-data", "no"), readonly(server):
        yield


@contextmanager
def oom(server: Server) -> Iterator[None]:
    """A server that is full."""
    with _configured(server, "maxmemory", "1"):
        yield


@contextmanager
def noreplicas(server: Server) -> Iterator[None]:
    """A primary that was told to refuse writes without a replica, and has none."""
    with _configured(server, "min-replicas-to-write", "1"):
        yield


@contextmanager
def misconf(server: Server) -> Iterator[None]:
    """A server that cannot save its data; it needs ``--enable-protected-configs yes``."""
    folder = mkdtemp()
    with _client(server) as client, _configured(server, "dir", folder), _configured(server, "save", "3600 1"):
        os.rmdir(folder)
        client.bgsave()
        wait_until(lambda: client.info("persistence")["rdb_last_bgsave_status"] == "err", "a save that failed")
        yield


@contextmanager
def busy(server: Server) -> Iterator[None]:
    """A server in which somebody's script does not end."""
    with _client(server) as client, _configured(server, "busy-reply-threshold", "10"):
        script = threading.Thread(target=_run_for_ever, args=(server,), daemon=True)
        script.start()
        wait_until(lambda: _is_busy(client), "a script that does not end")
        yield
        client.script_kill()
        script.join()


@contextmanager
def noauth(server: Server) -> Iterator[None]:
    """A server whose password was changed; who is connected stays connected, so all are cut off."""
    with _client(server) as client:
        client.config_set("requirepass", "other")
        client.execute_command("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
        yield
        client.config_set("requirepass", "")


STATES: dict[str, State] = {
    "READONLY": readonly, "MASTERDOWN": masterdown, "OOM": oom, "NOREPLICAS": noreplicas, "MISCONF": misconf,
    "BUSY": busy, "NOAUTH": noauth,
}  # fmt: skip


@contextmanager
def _configured(server: Server, name: str, value: str) -> Iterator[None]:
    with _client(server) as client:
        before = client.config_get(name)[name]
        client.config_set(name, value)
        yield
        client.config_set(name, before)


def _client(server: Server) -> redis.Redis:
    return redis.Redis(port=server.port, decode_responses=True)


def _run_for_ever(server: Server) -> None:
    with _client(server) as client, suppress(redis.RedisError):
        client.eval("while true do end", 0)


def _is_busy(client: redis.Redis) -> bool:
    try:
        return not client.ping()
    except redis.RedisError as error:
        return "BUSY" in str(error)
