"""The election's one connection: every call ends in time, a break is noticed, a child leaves it alone."""

import os
import select
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from datetime import timedelta

import pytest
import redis

from celery_leased_beat.errors import StoreError
from celery_leased_beat.store import Connection, Lease, connect
from examples.valkey import Server
from tests.nodes.proxy import Proxy
from tests.nodes.waiting import wait_until
from tests.store.conftest import REPLICA

TTL = timedelta(seconds=3)
#: What a call may take (seconds): the rest of the TTL is for a machine that is busy.
BOUND = TTL.total_seconds() / 3


class Bell:
    """Ends a wait when it is rung."""

    def __init__(self) -> None:
        self._reader, self._writer = socket.socketpair()

    def fileno(self) -> int:
        return self._reader.fileno()

    def ring(self) -> None:
        self._writer.send(b"\0")

    def close(self) -> None:
        self._reader.close()
        self._writer.close()


@pytest.fixture
def bell() -> Iterator[Bell]:
    with closing(Bell()) as bell:
        yield bell


def seconds_of(call: Callable[[], object]) -> float:
    began = time.monotonic()
    with pytest.raises(StoreError):
        call()
    return time.monotonic() - began


def test_a_call_that_meets_silence_ends_before_the_lease_does(open_lease: Callable[..., Lease], proxy: Proxy) -> None:
    lease = open_lease(url=proxy.url, ttl=TTL)
    lease.acquire("token-1", REPLICA)
    proxy.freeze()
    assert seconds_of(lambda: lease.renew("token-1", REPLICA)) < TTL.total_seconds()
    assert seconds_of(lambda: lease.renew("token-1", REPLICA)) < TTL.total_seconds()
    assert seconds_of(lease.observe) < TTL.total_seconds()
    assert seconds_of(lambda: lease.release("token-1")) < TTL.total_seconds()


def test_a_paused_server_ends_a_call_in_time(open_lease: Callable[..., Lease], server: Server) -> None:
    lease = open_lease(ttl=TTL)
    lease.acquire("token-1", REPLICA)
    with ExitStack() as after:
        after.callback(server.resume)
        server.pause()
        assert seconds_of(lambda: lease.renew("token-1", REPLICA)) < TTL.total_seconds()
        assert not lease.connected
    assert lease.renew("token-1", REPLICA)


def test_a_server_that_greets_slowly_ends_a_call_in_time(open_lease: Callable[..., Lease]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        threading.Thread(target=_greet_slowly, args=(listener,), daemon=True).start()
        lease = open_lease(url=f"redis://:secret@127.0.0.1:{listener.getsockname()[1]}/3", ttl=TTL)
        assert seconds_of(lambda: lease.acquire("token-1", REPLICA)) < TTL.total_seconds()


def _greet_slowly(listener: socket.socket) -> None:
    peer, _ = listener.accept()
    with peer:
        peer.recv(1000)
        for _ in range(3):
            peer.sendall(b"+OK\r\n")
            time.sleep(BOUND / 7)


@pytest.mark.parametrize("host", ["no-such-host.invalid", "127.0.0.1:1"])
def test_a_server_out_of_reach_is_no_answer(open_lease: Callable[..., Lease], host: str) -> None:
    with pytest.raises(StoreError, match="no answer"):
        open_lease(url=f"redis://{host}").acquire("token-1", REPLICA)


def test_after_a_break_the_next_call_goes_over_a_new_connection(open_lease: Callable[..., Lease], proxy: Proxy) -> None:
    lease = open_lease(url=proxy.url)
    lease.acquire("token-1", REPLICA)
    proxy.cut()
    with pytest.raises(StoreError):
        lease.renew("token-1", REPLICA)
    assert not lease.connected
    assert lease.renew("token-1", REPLICA)
    assert lease.connected
    assert proxy.opened == 2


def test_nothing_is_sent_a_second_time_behind_our_back(open_lease: Callable[..., Lease], proxy: Proxy) -> None:
    proxy.refuse = True
    with pytest.raises(StoreError):
        open_lease(url=proxy.url).acquire("token-1", REPLICA)
    assert proxy.opened == 1


@pytest.mark.parametrize("refusal", ["READONLY", "OOM", "LOADING", "CLUSTERDOWN", "MISCONF", "ERR", "BUSY", "NOAUTH"])
def test_any_refusal_is_no_answer_that_can_be_used(open_lease: Callable[..., Lease], refusal: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        threading.Thread(target=_refuse, args=(listener, f"-{refusal} no\r\n".encode()), daemon=True).start()
        lease = open_lease(url=f"redis://127.0.0.1:{listener.getsockname()[1]}")
        with pytest.raises(StoreError):
            lease.acquire("token-1", REPLICA)


def _refuse(listener: socket.socket, reply: bytes) -> None:
    while True:
        try:
            peer, _ = listener.accept()
        except OSError:
            return
        with peer:
            while peer.recv(10_000):
                peer.sendall(reply)


def test_a_script_that_the_server_forgot_is_sent_by_its_source(lease: Lease, client: redis.Redis) -> None:
    assert lease.acquire("token-1", REPLICA)
    client.script_flush()
    assert lease.renew("token-1", REPLICA)


# Waiting


def test_a_wait_ends_with_its_time(lease: Lease, bell: Bell) -> None:
    lease.acquire("token-1", REPLICA)
    began = time.monotonic()
    assert not lease.wait(0.05, bell)
    assert 0.04 < time.monotonic() - began < 2


def test_a_wait_ends_when_it_is_rung(lease: Lease, bell: Bell) -> None:
    lease.acquire("token-1", REPLICA)
    bell.ring()
    began = time.monotonic()
    assert not lease.wait(30, bell)
    assert time.monotonic() - began < 2


def test_a_wait_ends_when_the_connection_breaks(open_lease: Callable[..., Lease], proxy: Proxy, bell: Bell) -> None:
    lease = open_lease(url=proxy.url)
    lease.acquire("token-1", REPLICA)
    threading.Timer(0.05, proxy.cut).start()
    began = time.monotonic()
    assert lease.wait(30, bell)
    assert time.monotonic() - began < 2
    assert not lease.connected


def test_a_wait_without_a_connection_opens_none(lease: Lease, bell: Bell) -> None:
    assert not lease.wait(0.01, bell)
    assert not lease.connected


def test_closing_never_connects_and_may_be_repeated(open_lease: Callable[..., Lease], proxy: Proxy) -> None:
    lease = open_lease(url=proxy.url)
    for _ in range(3):
        lease.close()
    assert proxy.opened == 0


# Forks


def test_a_child_that_outlives_its_parents_connection_keeps_none_of_it(
    open_connection: Callable[..., Connection], client: redis.Redis
) -> None:
    connection = open_connection()
    with connection.call() as client_id:
        pass
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.read(reader, 1)
        os._exit(0)
    try:
        assert client.execute_command("CLIENT LIST", "ID", client_id)
        connection.close()
        gone = lambda: not client.execute_command("CLIENT LIST", "ID", client_id)  # noqa: E731
        wait_until(gone, "the server lists the connection no longer", 5)
    finally:
        os.write(writer, b"\0")
        os.waitpid(child, 0)
        os.close(reader)
        os.close(writer)


def test_a_child_leaves_the_parents_connection_as_it_is(
    open_connection: Callable[..., Connection], client: redis.Redis
) -> None:
    connection = open_connection()
    with connection.call() as before:
        pass
    child = os.fork()
    if child == 0:
        connection.close()
        os._exit(0)
    os.waitpid(child, 0)
    with connection.call() as after:
        assert connection.execute([("PING",)]) == ["PONG"]
    assert after == before


def test_a_child_opens_a_connection_of_its_own(open_connection: Callable[..., Connection]) -> None:
    connection = open_connection()
    with connection.call() as client_id:
        pass
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        with connection.call() as own:
            os.write(writer, own.encode())
        os._exit(0)
    os.waitpid(child, 0)
    assert select.select([reader], [], [], 5)[0]
    own = os.read(reader, 100).decode()
    os.close(reader)
    os.close(writer)
    assert own.isdecimal()
    assert own != client_id


# The client with a pool


def test_a_request_of_the_pool_whose_reply_was_lost_is_not_sent_again(proxy: Proxy, client: redis.Redis) -> None:
    with connect(proxy.url, timeout=timedelta(seconds=1)) as pooled:
        pooled.incr("requests")
        proxy.lose_replies = True
        with pytest.raises(redis.RedisError):
            pooled.incr("requests")
    assert client.get("requests") == "2"


def test_the_pool_waits_for_nothing_without_end(server_url: str) -> None:
    with connect(server_url, options={"socket_timeout": 30}, timeout=timedelta(seconds=1)) as pooled:
        waits = pooled.connection_pool.connection_kwargs
    assert (waits["socket_timeout"], waits["socket_connect_timeout"]) == (1, 1)


def test_the_pool_comes_back_after_its_connections_were_cut(server_url: str, client: redis.Redis) -> None:
    with connect(server_url, timeout=timedelta(seconds=5)) as pooled:
        assert pooled.ping()
        client.execute_command("CLIENT KILL", "TYPE", "normal", "SKIPME", "yes")
        assert pooled.ping()
