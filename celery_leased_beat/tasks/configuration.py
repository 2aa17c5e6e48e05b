"""The settings of a Celery app."""

import os
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from celery import Celery
from kombu.serialization import prepare_accept_content

from celery_leased_beat.errors import SettingsError
from celery_leased_beat.settings import Settings

#: How long a Redis-like broker waits before it delivers a message again, where it was told nothing.
VISIBILITY_TIMEOUT = timedelta(hours=1)


def settings_for(app: Celery) -> Settings:
    """Return the settings of ``app``. Reads its configuration; raises ``SettingsError``."""
    conf = app.conf
    _check_json(conf.accept_content)
    broker_options = dict(conf.broker_transport_options or {})
    visibility_timeout = broker_options.get("visibility_timeout", VISIBILITY_TIMEOUT.total_seconds())
    return Settings.read(
        conf.get,
        os.environ,
        app_name=app.main,
        timezone=app.timezone,
        broker_url=_url(conf.broker_write_url),
        broker_options=_with_tls(broker_options, conf.broker_use_ssl),
        result_backend=_url(conf.result_backend),
        result_backend_options=_with_tls(
            dict(conf.result_backend_transport_options or {}), conf.get("redis_backend_use_ssl")
        ),
        visibility_timeout=timedelta(seconds=float(visibility_timeout)),
    )


def _check_json(accepted: Any) -> None:
    if accepted is not None and "application/json" not in (prepare_accept_content(accepted) or ()):
        raise SettingsError(f"accept_content is {accepted!r}: it has to hold 'json', in which our messages are")


def _url(value: Any) -> str | None:
    """Return one URL, or several joined as Celery joins them; an object or a class is none."""
    if isinstance(value, list | tuple):
        return ";".join(map(str, value))
    return value if isinstance(value, str) else None


def _with_tls(options: dict[str, Any], tls: Any) -> Mapping[str, Any]:
    return {**options, "ssl": tls} if tls else options
