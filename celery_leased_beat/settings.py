"""What a user sets, read once and checked: one frozen :class:`Settings`.

A setting is looked for under its lower-case name, then ``LEASED_BEAT_X``, then ``CELERY_LEASED_BEAT_X`` (old files in
upper case), then in the environment. Each error names the setting, its value and what is allowed.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta, tzinfo
from typing import Any, NamedTuple, Self

import durationpy

from celery_leased_beat.errors import SettingsError, SpecError
from celery_leased_beat.releases import read_release
from celery_leased_beat.timing import to_duration, to_zone

_ONE_HOST = ("redis", "rediss", "valkey", "valkeys", "unix", "redis+socket", "valkey+socket", "socket")
_SEVERAL_HOSTS = ("sentinel", "redis+cluster", "rediss+cluster", "valkey+cluster", "valkeys+cluster")
#: The schemes of the servers that can hold a lease.
SCHEMES = _ONE_HOST + _SEVERAL_HOSTS

LEASE_TTL = timedelta(seconds=15)
#: Below a second the network's own delays would end the lease; above an hour nobody would take over a schedule in time.
SHORTEST_LEASE_TTL, LONGEST_LEASE_TTL = timedelta(seconds=1), timedelta(hours=1)

MARKER_TTL = timedelta(hours=6)
#: A marker must outlive every redelivery: an hour is the visibility timeout of a Redis-like broker by default.
SHORTEST_MARKER_TTL, LONGEST_MARKER_TTL = timedelta(hours=1), timedelta(days=365)

#: The namespace stands between braces in every key, where a brace would split what a cluster must keep together.
_NAMESPACE = re.compile(r"[^\s{}]{1,200}")
_NUMBER = re.compile(r"[-+]?[0-9]*\.?[0-9]*")
_SECRETS = re.compile(r"([?&][^=&]*(?:password|username)=)[^&]*")


class _Found(NamedTuple):
    """A value, and where the user wrote it."""

    value: Any
    where: str

    def error(self, allowed: str, shown: object = None) -> SettingsError:
        return SettingsError(f"{self.where} is {self.value if shown is None else shown!r}: {allowed}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The settings of one app.

    ``backend_url`` is the server of the lease, with its credentials; show it through :func:`safe_url`.
    ``transport_options`` are Celery's for that URL. ``schedule_path`` is the dotted path of a Schedule that is not
    bound to the app. ``marker_ttl`` is how long a task's marker lives after its last use. ``in_worker`` says whether
    each worker runs a replica by itself. ``version`` is the release of the app: a newer one goes first.
    """

    backend_url: str = field(repr=False)
    namespace: str
    lease_ttl: timedelta
    timezone: tzinfo
    marker_ttl: timedelta
    schedule_path: str | None = None
    in_worker: bool = False
    version: str | None = None
    transport_options: Mapping[str, Any] = field(default_factory=dict, repr=False)

    @classmethod
    def read(
        cls,
        get: Callable[[str], Any],
        environ: Mapping[str, str],
        *,
        app_name: str | None,
        timezone: tzinfo | str,
        broker_url: str | None = None,
        broker_options: Mapping[str, Any] | None = None,
        result_backend: str | None = None,
        result_backend_options: Mapping[str, Any] | None = None,
        visibility_timeout: timedelta = timedelta(0),
    ) -> Self:
        """Read all settings. ``get`` returns a configured value, or None where there is none.

        The rest is where the defaults come from: the app's name, zone, broker and result backend, and how long the
        broker waits before it delivers a message again. Raises ``SettingsError``.
        """
        find = _Finder(get, environ)
        servers = {
            "broker_url": (broker_url, broker_options or {}),
            "result_backend": (result_backend, result_backend_options or {}),
        }
        url, options = _backend(find("backend", "VALKEY_URL"), servers)
        return cls(
            backend_url=url,
            transport_options=_options(find("transport_options"), options),
            namespace=_namespace(find("namespace", "SCHEDULER_NAMESPACE"), app_name),
            lease_ttl=_lease_ttl(find("lease_ttl", "SCHEDULER_LEASE_TTL")),
            timezone=_zone(find("timezone", "SCHEDULER_TIMEZONE") or _Found(timezone, "timezone")),
            marker_ttl=_marker_ttl(find("marker_ttl"), visibility_timeout),
            schedule_path=_schedule_path(find("schedule")),
            in_worker=_in_worker(find("in_worker")),
            version=_version(find("version", "SCHEDULER_VERSION")),
        )


def safe_url(url: str) -> str:
    """Return ``url`` (or several, joined by ``;``) without user names and passwords."""
    return ";".join(_safe(part) for part in url.split(";"))


def _safe(url: str) -> str:
    scheme, separator, rest = url.rpartition("://")
    address, question, query = rest.partition("?")
    hidden = "***@" if "@" in address else ""
    return scheme + separator + hidden + address.rpartition("@")[2] + _SECRETS.sub(r"\1***", question + query)


class _Finder:
    def __init__(self, get: Callable[[str], Any], environ: Mapping[str, str]) -> None:
        self._get = get
        self._environ = environ

    def __call__(self, name: str, variable: str = "") -> _Found | None:
        setting = f"leased_beat_{name}"
        for key in (setting, setting.upper(), f"CELERY_{setting.upper()}"):
            value = self._get(key)
            if value is not None:
                return _Found(value, setting)
        text = self._environ.get(variable, "")
        return _Found(text, f"{setting} (from {variable})") if text else None


def _backend(
    found: _Found | None, servers: Mapping[str, tuple[str | None, Mapping[str, Any]]]
) -> tuple[str, Mapping[str, Any]]:
    """Return the URL of the lease's server and the options that the app has for that server."""
    if found is not None:
        url = _checked_url(found)
        return url, next((options for known, options in servers.values() if known == url), {})
    for where, (url_or_none, options) in servers.items():
        if url_or_none and _scheme(url_or_none) in SCHEMES:
            return _checked_url(_Found(url_or_none, where)), options
    raise SettingsError(
        "leased_beat_backend is not set, and neither the broker nor the result backend is a Redis or Valkey: set it"
        f" (or VALKEY_URL) to the URL of one, {_schemes()}"
    )


def _checked_url(found: _Found) -> str:
    url = found.value
    if not isinstance(url, str) or _scheme(url) not in SCHEMES:
        raise found.error(f"a URL is wanted, {_schemes()}", safe_url(str(url)))
    if ";" in url and _scheme(url) in _ONE_HOST:
        raise found.error("a lease lives on one server: set leased_beat_backend to the URL of one", safe_url(url))
    return url


def _scheme(url: str) -> str:
    return url.partition("://")[0] if "://" in url else ""


def _schemes() -> str:
    return "one of " + ", ".join(f"{scheme}://" for scheme in SCHEMES)


def _options(found: _Found | None, default: Mapping[str, Any]) -> Mapping[str, Any]:
    if found is None:
        return dict(default)
    if not isinstance(found.value, Mapping):
        raise found.error("a dictionary is wanted, as for broker_transport_options")
    return dict(found.value)


def _namespace(found: _Found | None, app_name: str | None) -> str:
    if found is None:
        # __main__ is any script: two of them would share one lease.
        if not app_name or app_name == "__main__":
            raise SettingsError(
                f"leased_beat_namespace is not set, and the Celery app's name is {app_name!r}: name the app, as in"
                ' Celery("shop"), or set leased_beat_namespace, so that two apps on one server do not share a lease'
            )
        found = _Found(app_name, "leased_beat_namespace (the Celery app's name)")
    if not isinstance(found.value, str) or not _NAMESPACE.fullmatch(found.value):
        raise found.error("1 to 200 characters are wanted, without spaces and braces")
    return found.value


def _lease_ttl(found: _Found | None) -> timedelta:
    if found is None:
        return LEASE_TTL
    return _within(found, SHORTEST_LEASE_TTL, LONGEST_LEASE_TTL)


def _marker_ttl(found: _Found | None, visibility_timeout: timedelta) -> timedelta:
    shortest = max(SHORTEST_MARKER_TTL, visibility_timeout)
    if found is None:
        return max(MARKER_TTL, shortest + SHORTEST_MARKER_TTL)
    return _within(found, shortest, LONGEST_MARKER_TTL)


def _within(found: _Found, shortest: timedelta, longest: timedelta) -> timedelta:
    allowed = f"from {durationpy.to_str(shortest)} to {durationpy.to_str(longest)} is allowed"
    duration = _duration(found.value)
    if duration is None:
        raise found.error(f'seconds, a timedelta or a duration such as "1m30s" are wanted; {allowed}')
    if not shortest <= duration <= longest:
        raise found.error(allowed)
    return duration


def _duration(value: object) -> timedelta | None:
    """Return what ``value`` says: a timedelta, seconds (a number, or one in text), or a Go duration."""
    text = value.strip() if isinstance(value, str) else value
    try:
        if isinstance(text, timedelta) or (isinstance(text, str) and not _NUMBER.fullmatch(text)):
            return to_duration(text)
        return timedelta(seconds=float(text)) if isinstance(text, str | int | float) and text is not True else None
    except (SpecError, ValueError, OverflowError):
        return None


def _zone(found: _Found) -> tzinfo:
    try:
        return to_zone(found.value)
    except SpecError as error:
        raise found.error('the name of a time zone is wanted, such as "Europe/Budapest"') from error


def _schedule_path(found: _Found | None) -> str | None:
    if found is None:
        return None
    if not isinstance(found.value, str) or not re.fullmatch(r"[\w.]+[.:]\w+", found.value):
        raise found.error('the dotted path of a Schedule is wanted, such as "shop.jobs.schedule"')
    return found.value


def _in_worker(found: _Found | None) -> bool:
    if found is not None and not isinstance(found.value, bool):
        raise found.error("True or False is wanted")
    return found is not None and bool(found.value)


def _version(found: _Found | None) -> str | None:
    if found is None:
        return None
    text = str(found.value).strip() if isinstance(found.value, str | int) else ""  # the float 1.10 would be 1.1
    if read_release(text) is None:
        raise found.error('a version that can be newer than another is wanted, such as "1.4.2", or a build\'s number')
    return text
