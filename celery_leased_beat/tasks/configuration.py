"""The settings of a Celery app."""

import os
from collections import ChainMap
from collections.abc import Mapping
from datetime import timedelta, tzinfo
from typing import Any

from celery import Celery
from celery.utils.time import LocalTimezone
from kombu.exceptions import SerializerNotInstalled
from kombu.serialization import prepare_accept_content
from kombu.transport import resolve_transport

from celery_leased_beat.errors import SettingsError, SpecError
from celery_leased_beat.settings import Settings, safe_url
from celery_leased_beat.timing import to_named_zone, zone_of_host

#: How long a Redis-like broker waits before it delivers a message again, where it was told nothing.
VISIBILITY_TIMEOUT = timedelta(hours=1)
#: Takes the place of the lease's server where nothing connects to it.
NO_SERVER = "redis://no-server.invalid"


def settings_for(app: Celery, *, offline: bool = False) -> Settings:
    """Return the settings of ``app``. Reads its configuration; raises ``SettingsError``.

    ``offline`` is for what needs the other settings and connects to no server: that of the lease may be missing.
    """
    conf = app.conf
    _check_json(conf.accept_content)
    _check_broker(_url(conf.broker_write_url) or "")
    broker_options = _options(app, "broker_transport_options")
    return Settings.read(
        ChainMap({"leased_beat_backend": NO_SERVER}, conf).get if offline else conf.get,
        os.environ,
        app_name=app.main,
        timezone=_zone(app),
        broker_url=_url(conf.broker_write_url),
        broker_options=_with_tls(broker_options, conf.broker_use_ssl),
        result_backend=_url(conf.result_backend),
        result_backend_options=_with_tls(
            _options(app, "result_backend_transport_options"), conf.get("redis_backend_use_ssl")
        ),
        visibility_timeout=visibility_timeout(app),
        names=_names(conf),
    )


def visibility_timeout(app: Celery) -> timedelta:
    """Return how long the broker of ``app`` waits before it delivers an unacknowledged message again.

    Raises ``SettingsError``.
    """
    seconds = _options(app, "broker_transport_options").get("visibility_timeout", VISIBILITY_TIMEOUT.total_seconds())
    try:
        return timedelta(seconds=float(seconds))
    except (TypeError, ValueError, OverflowError):
        raise SettingsError(
            f"broker_transport_options has the visibility_timeout {seconds!r}: a number of seconds is wanted"
        ) from None


def named_zone(zone: tzinfo) -> tzinfo:
    """Return a zone of Celery's by a name that means the same everywhere. Raises ``SpecError`` for one without."""
    if isinstance(zone, LocalTimezone):  # it knows of one change a year, and not of a name
        zone = zone_of_host() or zone
    return to_named_zone(zone)


def _names(conf: Any) -> list[str]:
    """Return the names of all that is configured, without the ``namespace`` under which Celery was told to look."""
    prefix = getattr(conf, "prefix", None) or ""
    return [name.removeprefix(prefix) for name in conf if isinstance(name, str)]


def _zone(app: Celery) -> tzinfo:
    """Return the app's zone by its name; without one, as it is, since a setting of ours may take its place."""
    try:
        zone: Any = app.timezone
        if not isinstance(zone, tzinfo):
            raise TypeError(f"{zone!r} is no zone")
    except (LookupError, ValueError, TypeError, OSError) as error:
        raise SettingsError(f"timezone is {app.conf.timezone!r}: the name of a time zone is wanted") from error
    try:
        return named_zone(zone)
    except SpecError:
        return zone


def _options(app: Celery, name: str) -> dict[str, Any]:
    options = app.conf.get(name) or {}
    if not isinstance(options, Mapping):
        raise SettingsError(f"{name} is {options!r}: a dictionary is wanted")
    return dict(options)


def _check_json(accepted: Any) -> None:
    try:
        types = None if accepted is None else prepare_accept_content(accepted) or ()
    except (SerializerNotInstalled, TypeError):  # a text, which is read as one name per letter
        types = ()
    if types is not None and "application/json" not in types:
        raise SettingsError(f"accept_content is {accepted!r}: it has to hold 'json', in which our messages are")


def _check_broker(url: str) -> None:
    """A Valkey is a lease's server by this name, and a broker's where kombu knows it, which it does not so far."""
    scheme = url.partition("://")[0]
    if scheme.startswith("valkey"):
        try:
            resolve_transport(scheme)
        except KeyError:
            raise SettingsError(
                f"broker_url is {safe_url(url)!r}: Celery has no such broker, it knows Valkey as "
                f"{scheme.replace('valkey', 'redis')}://; only leased_beat_backend may be {scheme}://"
            ) from None


def _url(value: Any) -> str | None:
    """Return one URL, or several joined as Celery joins them; an object or a class is none."""
    if isinstance(value, list | tuple):
        return ";".join(map(str, value))
    return value if isinstance(value, str) else None


def _with_tls(options: dict[str, Any], tls: Any) -> Mapping[str, Any]:
    return {**options, "ssl": tls} if tls else options
