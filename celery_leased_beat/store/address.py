"""The URL of the lease's server, with Celery's transport options, as redis-py's arguments.

=================================  ======================================================
``redis://`` ``valkey://``         TCP
``rediss://`` ``valkeys://``       TLS; certificate and host name are checked unless told otherwise
``unix://`` ``redis+socket://``    a Unix socket; the database as ``?db=`` or ``?virtual_host=``
``sentinel://h1:p;h2:p/db``        the primary ``master_name``; each host may repeat the scheme
``redis+cluster://h1:p;h2:p``      a Cluster, by some of its nodes; also ``valkey+cluster``; with TLS ``rediss+cluster``
                                   and ``valkeys+cluster``
=================================  ======================================================

Options may stand in the URL's query or in the transport options. What is not listed here belongs to the broker's
transport, and is left alone.
"""

import ssl
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import SplitResult, parse_qsl, unquote, urlsplit

from celery_leased_beat.errors import SettingsError
from celery_leased_beat.settings import SCHEMES, safe_url
from celery_leased_beat.store.options import checked

#: The options that every connection understands.
COMMON = {"username", "password", "credential_provider", "client_name", "socket_timeout", "socket_connect_timeout"}
TCP = {"socket_keepalive", "socket_keepalive_options"}
FILES = ("ssl_ca_certs", "ssl_certfile", "ssl_keyfile")
TLS = {
    *FILES,
    "ssl_ca_path",
    "ssl_ca_data",
    "ssl_cert_reqs",
    "ssl_check_hostname",
    "ssl_password",
    "ssl_min_version",
    "ssl_ciphers",
}
SENTINEL = {"master_name", "min_other_sentinels", "sentinel_kwargs"}

_SOCKETS = {"unix", "redis+socket", "valkey+socket", "socket"}
_SECURE = {"rediss", "valkeys", "rediss+cluster", "valkeys+cluster"}
_CLUSTERS = {"redis+cluster", "rediss+cluster", "valkey+cluster", "valkeys+cluster"}
_CERTIFICATES = {"none": ssl.CERT_NONE, "optional": ssl.CERT_OPTIONAL, "required": ssl.CERT_REQUIRED}


@dataclass(frozen=True, slots=True)
class Address:
    """Where the server is. ``options`` are the arguments of a connection to it, without timeouts and retries.

    With ``sentinels`` (host and port) the server is the primary ``sentinel_options["master_name"]``; with ``nodes`` it
    is one of the Cluster to which these belong.
    """

    options: Mapping[str, Any] = field(repr=False)
    secure: bool = False
    socket: bool = False
    sentinels: tuple[tuple[str, int], ...] = ()
    sentinel_options: Mapping[str, Any] = field(default_factory=dict, repr=False)
    nodes: tuple[tuple[str, int], ...] = ()


def address(url: str, options: Mapping[str, Any]) -> Address:
    """Return the address in ``url``. Raises ``SettingsError`` for what cannot be used, without credentials."""
    scheme, separator, rest = url.partition("://")
    if not separator or scheme not in SCHEMES:
        raise _refuse(url, f"the scheme {scheme!r} is unknown: use one of {', '.join(SCHEMES)}")
    if not url.isprintable():
        raise _refuse(url, "it has characters that no URL has")
    try:
        parts = [urlsplit(f"{scheme}://{part.removeprefix(f'{scheme}://')}") for part in rest.split(";")]
        hosts = [(unquote(part.hostname or "localhost"), part.port) for part in parts]
        for host, _ in hosts:
            host.encode("idna")  # as a look-up does, in which this would be an error of our own
    except ValueError as error:
        raise _refuse(url, str(error)) from None
    given = {**_known(options), **_known(dict(pair for part in parts for pair in parse_qsl(part.query)))}
    given.update({name: value for part in reversed(parts) for name, value in _user(part).items()})
    try:
        given = checked(given)
    except ValueError as error:
        raise _refuse(url, str(error)) from None
    tls = _tls(url, given, secure=scheme in _SECURE)
    common = {name: value for name, value in given.items() if name in COMMON}
    if scheme in _SOCKETS:
        if not parts[0].path:
            raise _refuse(url, "it has no path of a socket")
        return Address({**common, "path": unquote(parts[0].path), "db": _query_database(url, parts[0])}, socket=True)
    common |= {name: value for name, value in given.items() if name in TCP} | (tls or {})
    common["db"] = _database(url, next((path for part in parts if (path := part.path.strip("/"))), "0"))
    if scheme == "sentinel":
        return _behind_sentinels(url, given, common, hosts, secure=tls is not None)
    if scheme in _CLUSTERS:
        return Address(common, secure=tls is not None, nodes=tuple((host, port or 6379) for host, port in hosts))
    return Address({**common, "host": hosts[0][0], "port": hosts[0][1] or 6379}, secure=tls is not None)


def _behind_sentinels(
    url: str, given: Mapping[str, Any], common: Mapping[str, Any], hosts: list[tuple[str, int | None]], *, secure: bool
) -> Address:
    if not given.get("master_name"):
        raise _refuse(url, "Sentinel needs the transport option 'master_name'")
    sentinels = tuple((host, port or 26379) for host, port in hosts)
    named = {name: value for name, value in given.items() if name in SENTINEL}
    return Address(common, secure=secure, sentinels=sentinels, sentinel_options=named)


def _known(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a connection understands; ``ssl`` may hold the TLS options, as ``broker_use_ssl`` does."""
    known = COMMON | TCP | TLS | SENTINEL | {"ssl"}
    found = {name: value for name, value in options.items() if name in known and value is not None}
    inner = found.get("ssl")
    return {**found, **_known({**inner, "ssl": True})} if isinstance(inner, Mapping) else found


def _user(part: SplitResult) -> dict[str, str]:
    named = {"username": part.username, "password": part.password}
    return {name: unquote(value) for name, value in named.items() if value}


def _tls(url: str, given: Mapping[str, Any], *, secure: bool) -> dict[str, Any] | None:
    """Return the TLS options, None for a plain connection: asking for any check asks for TLS."""
    found = {name: value for name, value in given.items() if name in TLS}
    if not (secure or found or given.get("ssl")):
        return None
    for name in FILES:
        if name in found and not Path(str(found[name])).is_file():
            raise _refuse(url, f"{name} is {str(found[name])!r}, which is not a file")
    requirement = found.get("ssl_cert_reqs", ssl.CERT_REQUIRED)
    if not isinstance(requirement, ssl.VerifyMode):
        requirement = _CERTIFICATES.get(str(requirement).lower().removeprefix("cert_"))
    if requirement is None:
        raise _refuse(url, f"ssl_cert_reqs is {found['ssl_cert_reqs']!r}: use one of {', '.join(_CERTIFICATES)}")
    checks_name = str(found.get("ssl_check_hostname", True)).lower() not in {"false", "0", "no"}
    return {
        **found,
        "ssl_cert_reqs": requirement,
        "ssl_check_hostname": checks_name and requirement is not ssl.CERT_NONE,
    }


def _query_database(url: str, part: SplitResult) -> int:
    query = dict(parse_qsl(part.query))
    return _database(url, query.get("db") or query.get("virtual_host", "0").strip("/"))


def _database(url: str, text: str) -> int:
    if not (text.isascii() and text.isdecimal()):
        raise _refuse(url, f"the database is {text!r}: use a number")
    return int(text)


def _refuse(url: str, why: str) -> SettingsError:
    return SettingsError(f"leased_beat_backend {safe_url(url)!r} cannot be used: {why}")
