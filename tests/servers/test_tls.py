"""TLS with certificates on both sides, passwords, and what is said where one of them is wrong."""

import socket
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import redis

from celery_leased_beat.errors import StoreError
from examples.valkey import HOST, free_port
from tests.brokers.stand import Stand
from tests.nodes.programs import require
from tests.nodes.waiting import wait_until
from tests.servers.replica import serving
from tests.servers.store import Store
from tests.store.programs import Certificates, running


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Certificates:
    return Certificates(tmp_path_factory.mktemp("certificates"))


@pytest.fixture(scope="module")
def port(certificates: Certificates, tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    """A server that speaks TLS alone, to clients that show a certificate."""
    port = free_port()
    options = ["--port", 0, "--tls-port", port, "--save", "", "--dir", tmp_path_factory.mktemp("tls")]
    with running(require("redis-server"), *options, *certificates.of_server, port=port):
        yield port


@pytest.fixture
def options(certificates: Certificates) -> dict[str, Any]:
    """The TLS options, as Celery's."""
    return {
        "ssl_ca_certs": str(certificates.root), "ssl_certfile": str(certificates.certificate),
        "ssl_keyfile": str(certificates.key), "ssl_cert_reqs": "required",
    }  # fmt: skip


def test_every_call_works_with_a_certificate_of_ours(port: int, options: dict[str, Any], namespace: str) -> None:
    with Store(f"rediss://{HOST}:{port}/0", namespace, options) as store:
        store.take()
        assert all(call.says_the_truth() for call in store.calls().values())


def test_without_a_certificate_of_ours_the_settings_for_it_are_named(
    port: int, options: dict[str, Any], namespace: str
) -> None:
    del options["ssl_certfile"], options["ssl_keyfile"]
    with (
        Store(f"rediss://{HOST}:{port}/0", namespace, options) as store,
        pytest.raises(StoreError, match="ssl_certfile and ssl_keyfile"),
    ):
        store.take()


def test_a_server_of_another_root_is_refused_and_the_setting_is_named(
    port: int, options: dict[str, Any], namespace: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    other = Certificates(tmp_path)
    options["ssl_ca_certs"] = str(other.root)
    with serving(namespace, f"rediss://{HOST}:{port}/0", options) as runner:
        said = wait_until(lambda: [line for line in caplog.messages if "ssl_ca_certs" in line], "a line that names it")
        runner.turn(1.5)
    assert "leased_beat_backend" in said[0]
    assert "stands by" in said[0]
    assert len([line for line in caplog.messages if "ssl_ca_certs" in line]) == 1, "said once"


@pytest.mark.parametrize("url", ["rediss://{}", "valkeys+cluster://{}", "redis://{}?ssl_cert_reqs=required"])
def test_nothing_is_ever_said_in_plain_text(url: str, namespace: str) -> None:
    heard: list[bytes] = []
    with socket.create_server((HOST, 0)) as listener:
        threading.Thread(target=_hear, args=(listener, heard), daemon=True).start()
        address = f":secret@{HOST}:{listener.getsockname()[1]}"
        with Store(url.format(address), namespace) as store:
            for _ in range(3):
                with pytest.raises(StoreError):
                    store.lease.acquire("token", "replica")
    assert len(heard) >= 3
    assert all(message[:2] == b"\x16\x03" for message in heard), "each begins with a handshake of TLS"


def test_broker_and_lease_on_one_server_with_tls(
    port: int, options: dict[str, Any], serve: Callable[..., Stand]
) -> None:
    url = f"rediss://{HOST}:{port}/0"
    stand = serve(None, broker_url=url, broker_use_ssl=options)
    stand.reached("report", 3)
    found = stand.settled()
    assert found.doubled == found.missing == []


@pytest.mark.parametrize("wrong", [":wrong@", ""])
def test_a_password_that_is_wrong_or_missing_is_said_and_not_shown(
    wrong: str, server_url: str, namespace: str, client: redis.Redis, caplog: pytest.LogCaptureFixture
) -> None:
    client.config_set("requirepass", "secret")
    try:
        with serving(namespace, server_url.replace("//", f"//{wrong}"), {}):
            wait_until(lambda: "the lease cannot be looked at" in caplog.text, "a line that says so")
    finally:
        client.config_set("requirepass", "")
    assert "Auth" in caplog.text
    assert "wrong" not in caplog.text.replace("wrong number", "")


def _hear(listener: socket.socket, heard: list[bytes]) -> None:
    """Note the first bytes of each connection, and answer as a plain server would."""
    while True:
        try:
            peer, _ = listener.accept()
        except OSError:
            return
        with peer:
            heard.append(peer.recv(100))
            peer.sendall(b"+OK\r\n")
