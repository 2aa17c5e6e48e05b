"""The settings of one app, and from what each is read."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta, tzinfo
from typing import Any, Self

from celery_leased_beat.settings import checks, lifetimes
from celery_leased_beat.settings.server import Server, lease_server, transport_options
from celery_leased_beat.settings.sources import Found, Sources, check_names


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The settings of one app.

    ``backend_url`` is the server of the lease, with its credentials; show it through :func:`safe_url`.
    ``transport_options`` are Celery's for that URL. ``schedule_path`` is the dotted path of a Schedule that is not
    bound to the app. ``marker_ttl`` is how long a task's marker lives after its last use. ``in_worker`` says whether
    each worker runs a replica by itself. ``version`` is the app's own: a newer one goes first.
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
        names: Iterable[str] = (),
    ) -> Self:
        """Read all settings. ``get`` returns a configured value, or None where there is none.

        The rest is where the defaults come from: the app's name, zone, broker and result backend, and how long the
        broker waits before it delivers a message again. ``names`` are all that is configured, where a misspelled
        setting would be. Raises ``SettingsError``.
        """
        check_names(names)
        find = Sources(get, environ).find
        broker = Server("broker_url", broker_url, broker_options)
        results = Server("result_backend", result_backend, result_backend_options)
        url, options = lease_server(find("backend", "VALKEY_URL"), (broker, results))
        return cls(
            backend_url=url,
            transport_options=transport_options(find("transport_options"), options),
            namespace=checks.namespace(find("namespace", "SCHEDULER_NAMESPACE"), app_name),
            lease_ttl=lifetimes.lease_ttl(find("lease_ttl", "SCHEDULER_LEASE_TTL")),
            timezone=checks.zone(find("timezone", "SCHEDULER_TIMEZONE") or Found(timezone, "timezone")),
            marker_ttl=lifetimes.marker_ttl(find("marker_ttl"), visibility_timeout),
            schedule_path=checks.schedule_path(find("schedule")),
            in_worker=checks.in_worker(find("in_worker")),
            version=checks.version(find("version", "SCHEDULER_VERSION")),
        )
