"""What is read from URLs and from Celery's transport options."""

import ssl
from pathlib import Path
from typing import Any

import pytest

from celery_leased_beat.errors import SettingsError
from celery_leased_beat.store.address import address


def read(url: str, **options: Any) -> dict[str, Any]:
    return dict(address(url, options).options)


@pytest.mark.parametrize("scheme", ["redis", "valkey"])
def test_a_plain_url_gives_host_port_database_and_user(scheme: str) -> None:
    assert read(f"{scheme}://me:p%40ss@cache:7000/3") == {
        "host": "cache",
        "port": 7000,
        "db": 3,
        "username": "me",
        "password": "p@ss",
    }


@pytest.mark.parametrize("url", ["redis://", "redis:///", "valkey://localhost", "redis://localhost:6379/0"])
def test_what_is_left_out_is_the_local_server(url: str) -> None:
    assert read(url) == {"host": "localhost", "port": 6379, "db": 0}


def test_a_host_may_be_an_ipv6_address() -> None:
    assert read("redis://[::1]:7000/0")["host"] == "::1"


@pytest.mark.parametrize("scheme", ["rediss", "valkeys"])
def test_tls_checks_certificate_and_name_unless_told_otherwise(scheme: str) -> None:
    found = address(f"{scheme}://cache", {})
    assert found.secure
    assert found.options["ssl_cert_reqs"] is ssl.CERT_REQUIRED
    assert found.options["ssl_check_hostname"] is True


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("required", ssl.CERT_REQUIRED),
        ("CERT_REQUIRED", ssl.CERT_REQUIRED),
        ("CERT_OPTIONAL", ssl.CERT_OPTIONAL),
        ("none", ssl.CERT_NONE),
        (ssl.CERT_NONE, ssl.CERT_NONE),
    ],
)
def test_the_checks_may_be_written_as_celery_writes_them(written: Any, meant: ssl.VerifyMode) -> None:
    found = read("rediss://cache", ssl_cert_reqs=written)
    assert found["ssl_cert_reqs"] is meant
    assert found["ssl_check_hostname"] is (meant is not ssl.CERT_NONE)


def test_tls_may_come_from_broker_use_ssl() -> None:
    assert address("redis://cache", {"ssl": {"ssl_cert_reqs": ssl.CERT_NONE}}).secure
    assert address("redis://cache", {"ssl": True}).secure


def test_asking_for_a_check_is_never_answered_with_plain_text(tmp_path: Path) -> None:
    (tmp_path / "ca.pem").touch()
    found = address(f"redis://cache?ssl_ca_certs={tmp_path}/ca.pem", {})
    assert found.secure
    assert found.options["ssl_ca_certs"] == f"{tmp_path}/ca.pem"


@pytest.mark.parametrize("name", ["ssl_ca_certs", "ssl_certfile", "ssl_keyfile"])
def test_a_file_that_is_not_there_is_named(name: str) -> None:
    with pytest.raises(SettingsError, match=f"{name} is '/nowhere/x.pem'"):
        read(f"rediss://cache?{name}=/nowhere/x.pem")


def test_the_lowest_version_of_tls_may_be_named_in_the_url() -> None:
    assert read("rediss://cache?ssl_min_version=TLSv1_3")["ssl_min_version"] is ssl.TLSVersion.TLSv1_3
    assert read("rediss://cache", ssl_min_version=ssl.TLSVersion.TLSv1_2)["ssl_min_version"] == ssl.TLSVersion.TLSv1_2


def test_a_check_that_is_unknown_is_refused() -> None:
    with pytest.raises(SettingsError, match="ssl_cert_reqs is 'maybe'"):
        read("rediss://cache?ssl_cert_reqs=maybe")


@pytest.mark.parametrize("url", ["unix:///run/valkey.sock?db=2", "redis+socket:///run/valkey.sock?virtual_host=2"])
def test_a_unix_socket_gives_its_path_and_database(url: str) -> None:
    found = address(url, {"socket_keepalive": True})
    assert found.socket
    assert found.options == {"path": "/run/valkey.sock", "db": 2}


@pytest.mark.parametrize(
    "url",
    [
        "sentinel://:secret@one:26380;two;three:26381/4",
        "sentinel://:secret@one:26380;sentinel://two;sentinel://three:26381/4",
        "sentinel://:secret@one:26380/4;sentinel://two/4;sentinel://three:26381/4",
    ],
)
def test_sentinels_may_be_written_in_celerys_ways(url: str) -> None:
    found = address(url, {"master_name": "shop", "sentinel_kwargs": {"password": "other"}})
    assert found.sentinels == (("one", 26380), ("two", 26379), ("three", 26381))
    assert found.options == {"password": "secret", "db": 4}
    assert found.sentinel_options == {"master_name": "shop", "sentinel_kwargs": {"password": "other"}}


def test_sentinel_without_the_primarys_name_is_refused() -> None:
    with pytest.raises(SettingsError, match="master_name"):
        read("sentinel://one")


def test_options_that_a_client_understands_are_taken_and_no_other() -> None:
    found = read(
        "redis://cache?visibility_timeout=60&socket_timeout=2",
        socket_keepalive=True,
        global_keyprefix="y",
        queue_order_strategy="x",
        retry_on_timeout=True,
        health_check_interval=5,
        max_connections=2,
    )
    assert found == {"host": "cache", "port": 6379, "db": 0, "socket_timeout": 2.0, "socket_keepalive": True}


@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("amqp://me:secret@cache", "scheme 'amqp'"),
        ("cache:6379", "scheme"),
        ("", "scheme"),
        ("redis://me:secret@cache/shop", "database is 'shop'"),
        ("redis://me:secret@cache:port", "[Pp]ort"),
        ("unix:///run/x?db=y", "database is 'y'"),
        ("unix://", "no path"),
        ("redis://me:secret@cache/\u0661", "database is"),
        ("redis://me:secret@cache\0", "characters"),
        ("redis://me:secret@\udcff", "characters"),
        ("redis://me:secret@a..b", "label"),
        ("redis://me:secret@cache?socket_timeout=soon", "socket_timeout is 'soon': a number of seconds above zero"),
        ("redis://me:secret@cache?socket_timeout=-1", "socket_timeout is '-1'"),
        ("redis://me:secret@cache?socket_connect_timeout=nan", "socket_connect_timeout is 'nan'"),
        ("redis://me:secret@cache?socket_keepalive_options=x", "socket_keepalive_options is 'x'"),
        ("sentinel://me:secret@one?master_name=x&min_other_sentinels=y", "min_other_sentinels is 'y'"),
        ("sentinel://me:secret@one?master_name=x&sentinel_kwargs=y", "sentinel_kwargs is 'y'"),
        ("rediss://me:secret@cache?ssl_min_version=1", "ssl_min_version is '1': a name of ssl.TLSVersion"),
    ],
)
def test_a_url_that_cannot_be_used_is_refused_without_its_secrets(url: str, why: str) -> None:
    with pytest.raises(SettingsError, match=why) as refused:
        read(url)
    assert "secret" not in str(refused.value)
    assert "leased_beat_backend" in str(refused.value)


def test_an_address_does_not_show_its_secrets() -> None:
    found = address("sentinel://:secret@one", {"master_name": "x", "sentinel_kwargs": {"password": "hidden"}})
    assert "secret" not in repr(found)
    assert "hidden" not in repr(found)
