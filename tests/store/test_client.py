"""Real servers behind each scheme: TCP, a Unix socket, TLS, Sentinel."""

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
import redis

from celery_leased_beat.errors import StoreError
from celery_leased_beat.store import Held, Keys, Lease, ServerClock, connect, dedicated
from examples.valkey import HOST, Server, free_port, program
from tests.nodes.programs import require
from tests.nodes.waiting import wait_until
from tests.store.conftest import REPLICA
from tests.store.programs import Certificates, running

TTL = timedelta(seconds=15)


def answers(url: str, **options: Any) -> bool:
    """Ask both kinds of clients."""
    with connect(url, options=options, timeout=TTL / 3) as client:
        lease = open_lease(url, options)
        try:
            return bool(client.ping() and lease.acquire("token-1", REPLICA) and lease.release("token-1"))
        finally:
            lease.close()


def open_lease(url: str, options: dict[str, Any]) -> Lease:
    return Lease(dedicated(url, options=options, timeout=TTL / 3), Keys("shop"), TTL, ServerClock())


@pytest.mark.parametrize("scheme", ["redis", "valkey"])
def test_a_server_is_reached_over_tcp(server_url: str, scheme: str) -> None:
    assert answers(server_url.replace("redis", scheme), socket_keepalive=True)


def test_the_database_in_the_url_is_used(server_url: str, client: redis.Redis) -> None:
    with connect(server_url.removesuffix("/0") + "/5", timeout=TTL) as other:
        other.set("here", "five")
    assert not client.exists("here")


def test_a_user_and_a_password_are_used(server_url: str, client: redis.Redis) -> None:
    client.execute_command("ACL SETUSER shop reset on >p@ss:word ~* +@all")
    assert answers(server_url.replace("//", "//shop:p%40ss%3Aword@"))
    assert answers(server_url, username="shop", password="p@ss:word")
    with pytest.raises(StoreError, match=r"(?i)auth|wrongpass|password"):
        open_lease(server_url.replace("//", "//shop:wrong@"), {}).acquire("token-1", REPLICA)


@pytest.mark.parametrize("scheme", ["unix", "redis+socket"])
def test_a_server_is_reached_over_a_unix_socket(scheme: str) -> None:
    with TemporaryDirectory() as folder, Server("--unixsocket", f"{folder}/s"):
        assert answers(f"{scheme}://{folder}/s", socket_keepalive=True)


# TLS


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Certificates:
    return Certificates(tmp_path_factory.mktemp("certificates"))


@pytest.fixture
def tls_port(certificates: Certificates, tmp_path: Path) -> Iterator[int]:
    """A server that speaks TLS alone and asks for no certificate of a client's."""
    port = free_port()
    options = ["--port", 0, "--tls-port", port, "--tls-auth-clients", "no", "--save", "", "--dir", tmp_path]
    with running(require("redis-server"), *options, *certificates.of_server, port=port):
        yield port


@pytest.mark.parametrize("scheme", ["rediss", "valkeys"])
def test_a_server_is_reached_over_tls(tls_port: int, certificates: Certificates, scheme: str) -> None:
    assert answers(f"{scheme}://{HOST}:{tls_port}/0?{certificates.query}&ssl_cert_reqs=CERT_REQUIRED")


def test_an_idle_connection_over_tls_is_not_taken_for_broken(tls_port: int, certificates: Certificates) -> None:
    lease = open_lease(f"rediss://{HOST}:{tls_port}/0?{certificates.query}", {})
    near, far = socket.socketpair()
    with near, far:
        lease.acquire("token-1", REPLICA)
        assert not lease.wait(0.05, near)
    assert lease.connected
    lease.close()


def test_a_certificate_of_an_unknown_root_is_refused(tls_port: int) -> None:
    with pytest.raises(StoreError, match="CERTIFICATE_VERIFY_FAILED"):
        open_lease(f"rediss://{HOST}:{tls_port}/0", {}).acquire("token-1", REPLICA)


def test_a_certificate_of_another_name_is_refused(tls_port: int, certificates: Certificates) -> None:
    with pytest.raises(StoreError, match="CERTIFICATE_VERIFY_FAILED"):
        open_lease(f"rediss://localhost:{tls_port}/0?{certificates.query}", {}).acquire("token-1", REPLICA)


def test_checks_are_left_out_only_where_that_is_asked_for(tls_port: int) -> None:
    assert answers(f"rediss://localhost:{tls_port}/0?ssl_cert_reqs=none")


# Sentinel


@contextmanager
def sentinel(binary: Path, folder: Path, primary: int, *options: object, port: int) -> Iterator[int]:
    file = folder / "sentinel.conf"
    file.write_text(f"""
dir {folder}
sentinel monitor shop {HOST} {primary} 1
sentinel down-after-milliseconds shop 200
sentinel failover-timeout shop 1000
""")
    with running(binary, file, "--sentinel", "--bind", HOST, *options, port=port):
        yield port


def test_a_lease_moves_with_the_primary_that_sentinel_names(tmp_path: Path) -> None:
    with Server() as primary, Server("--replicaof", HOST, str(primary.port)) as replica:
        successor = redis.Redis(port=replica.port, decode_responses=True)
        wait_until(lambda: successor.info("replication")["master_link_status"] == "up", "the replica in step")
        port = free_port()
        with sentinel(program(), tmp_path, primary.port, "--port", port, port=port):
            lease = open_lease(f"sentinel://{HOST}:1;{HOST}:{port}/0", {"master_name": "shop"})
            first = wait_until(lambda: lease.acquire("token-1", REPLICA), "a lease at the primary")
            wait_until(lambda: redis.Redis(port=port).sentinel_slaves("shop"), "Sentinel to know the replica")
            primary.kill()
            second = wait_until(lambda: _acquired(lease), "a lease at the successor")
            lease.close()
        assert second.run_id == successor.info("server")["run_id"] != first.run_id
        assert (second.previous_term, second.previous_run_id) == (first.term, first.run_id)
        assert second.term > first.term


def _acquired(lease: Lease) -> Held | None:
    """Take the lease; the first one is freed where it was replicated, since what moves is the question here."""
    try:
        lease.release("token-1")
        return lease.acquire("token-2", REPLICA)
    except StoreError:
        return None


def test_a_demoted_primary_is_left_for_its_successor(server_url: str, client: redis.Redis) -> None:
    lease = open_lease(server_url, {})
    lease.acquire("token-1", REPLICA)
    client.replicaof(HOST, "1")
    try:
        with pytest.raises(StoreError):
            lease.renew("token-1", REPLICA)
        assert not lease.connected
    finally:
        client.replicaof("NO", "ONE")


def test_sentinel_and_primary_are_both_reached_over_tls(
    tls_port: int, certificates: Certificates, tmp_path: Path
) -> None:
    port = free_port()
    options = [
        "--port",
        0,
        "--tls-port",
        port,
        "--tls-auth-clients",
        "no",
        "--tls-replication",
        "yes",
        *certificates.of_server,
    ]
    with sentinel(require("redis-server"), tmp_path, tls_port, *options, port=port):
        url = f"sentinel://{HOST}:{port}/0?{certificates.query}"
        wait_until(lambda: _is_up(url, master_name="shop"), "an answer through Sentinel", seconds=5)


def _is_up(url: str, **options: Any) -> bool:
    try:
        return answers(url, **options)
    except (StoreError, redis.RedisError):
        return False
