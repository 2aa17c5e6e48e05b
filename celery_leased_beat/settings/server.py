"""Which server holds the lease: the one that is set, else the broker or the result backend, where it can."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from celery_leased_beat.errors import SettingsError
from celery_leased_beat.settings.sources import Found
from celery_leased_beat.settings.url import safe_url, scheme_of

_ONE_HOST = ("redis", "rediss", "valkey", "valkeys", "unix", "redis+socket", "valkey+socket", "socket")
_SEVERAL_HOSTS = ("sentinel", "redis+cluster", "rediss+cluster", "valkey+cluster", "valkeys+cluster")
#: The schemes of the servers that can hold a lease.
SCHEMES = _ONE_HOST + _SEVERAL_HOSTS
_EXAMPLES = "such as redis://localhost:6379/0, rediss:// for TLS, or one of docs/settings.md"


class Server(NamedTuple):
    """A server that the app has already, and Celery's options for it; ``setting`` is where it is configured."""

    setting: str
    url: str | None
    options: Mapping[str, Any] | None


def lease_server(found: Found | None, servers: tuple[Server, ...]) -> tuple[str, Mapping[str, Any]]:
    """Return the URL of the lease's server and the options that the app has for that server. Raises SettingsError."""
    if found is not None:
        url = _checked(found)
        return url, next((server.options or {} for server in servers if server.url == url), {})
    for server in servers:
        if server.url and scheme_of(server.url) in SCHEMES:
            return _checked(Found(server.url, server.setting)), server.options or {}
    raise SettingsError(
        "leased_beat_backend is not set, and neither the broker nor the result backend is a Redis or Valkey: set it"
        f" (or VALKEY_URL) to the URL of one, {_EXAMPLES}"
    )


def transport_options(found: Found | None, default: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a copy of the options that are set, else of those the app has for the server. Raises SettingsError."""
    if found is None:
        return dict(default)
    if not isinstance(found.value, Mapping):
        raise found.error("a dictionary is wanted, as for broker_transport_options")
    return dict(found.value)


def _checked(found: Found) -> str:
    url = found.value
    if not isinstance(url, str) or scheme_of(url) not in SCHEMES:
        raise found.error(f"a URL of a Redis or Valkey is wanted, {_EXAMPLES}", safe_url(str(url)))
    if ";" in url and scheme_of(url) in _ONE_HOST:
        why = f"a lease lives on one server: set leased_beat_backend to the URL of one, {_EXAMPLES}"
        raise found.error(why, safe_url(url))
    return url
