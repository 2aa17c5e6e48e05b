"""Settings: where they are looked for, what they default to, and what is refused."""

import re
from datetime import UTC, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from celery import Celery

from celery_leased_beat.binding import settings_for
from celery_leased_beat.errors import SettingsError
from celery_leased_beat.runner import Runner
from celery_leased_beat.scheduler import Scheduler
from celery_leased_beat.settings import SCHEMES, Settings, safe_url
from celery_leased_beat.settings.sources import NAMES

BROKER = "redis://:secret@broker:6379/0"


def read(environ: dict[str, str] | None = None, **configured: Any) -> Settings:
    """Read settings from ``configured`` and ``environ``, for an app that is called shop and has a Redis broker."""
    return Settings.read(configured.get, environ or {}, app_name="shop", timezone=UTC, broker_url=BROKER)


def refusal(environ: dict[str, str] | None = None, **configured: Any) -> str:
    with pytest.raises(SettingsError) as refused:
        read(environ, **configured)
    return str(refused.value)


def test_an_app_with_a_redis_broker_needs_no_setting() -> None:
    settings = read()
    assert settings.backend_url == BROKER
    assert settings.namespace == "shop"
    assert settings.lease_ttl == timedelta(seconds=15)
    assert settings.timezone is UTC
    assert settings.marker_ttl == timedelta(hours=6)
    assert settings.schedule_path is None


@pytest.mark.parametrize("name", ["leased_beat_namespace", "LEASED_BEAT_NAMESPACE", "CELERY_LEASED_BEAT_NAMESPACE"])
def test_a_setting_is_found_under_each_of_its_names(name: str) -> None:
    assert read(**{name: "blog"}).namespace == "blog"


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("leased_beat_lease_tll", "leased_beat_lease_tll is no setting; did you mean leased_beat_lease_ttl?"),
        ("LEASED_BEAT_TIMEZON", "LEASED_BEAT_TIMEZON is no setting; did you mean leased_beat_timezone?"),
        ("CELERY_LEASED_BEAT_NAME", "CELERY_LEASED_BEAT_NAME is no setting; did you mean leased_beat_namespace?"),
        ("leased_beat_q", "leased_beat_q is no setting; there are leased_beat_backend, leased_beat_namespace, "),
    ],
)
def test_a_misspelled_setting_is_refused(name: str, told: str) -> None:
    app = Celery("shop", broker=BROKER, set_as_current=False)
    app.conf[name] = "1m"
    with pytest.raises(SettingsError) as refused:
        settings_for(app)
    assert str(refused.value).startswith(told)


@pytest.mark.parametrize(
    ("namespace", "written"),
    [
        ("CELERY", "CELERY_LEASED_BEAT_LEASE_{}"), ("SHOP", "SHOP_LEASED_BEAT_LEASE_{}"),
        ("shop", "shop_leased_beat_lease_{}"), (None, "leased_beat_lease_{}"),
    ],
)  # fmt: skip
def test_a_misspelled_setting_is_refused_in_a_file_whatever_its_namespace(namespace: str | None, written: str) -> None:
    def configured(last: str) -> Celery:
        name = written.format(last.upper() if written.isupper() else last)
        others = {"celery_leased_beat": "a module", "Leased": 1}
        app = Celery("shop", broker=BROKER, set_as_current=False)
        app.config_from_object(SimpleNamespace(**others, **{name: 9}), namespace=namespace)
        return app

    assert settings_for(configured("ttl")).lease_ttl == timedelta(seconds=9)
    with pytest.raises(SettingsError, match="did you mean leased_beat_lease_ttl"):
        settings_for(configured("tll"))


def test_all_settings_are_in_the_docs_and_no_others() -> None:
    docs = (Path(__file__).parents[2] / "docs" / "settings.md").read_text()
    assert set(re.findall(r"^\| `leased_beat_(\w+)`", docs, re.MULTILINE)) == set(NAMES)


def test_the_environment_is_asked_last() -> None:
    environ = {
        "VALKEY_URL": "valkey://elsewhere/1", "SCHEDULER_NAMESPACE": "blog", "SCHEDULER_LEASE_TTL": "1m",
        "SCHEDULER_TIMEZONE": "Europe/Budapest",
    }  # fmt: skip
    settings = read(environ)
    assert settings.backend_url == "valkey://elsewhere/1"
    assert settings.namespace == "blog"
    assert settings.lease_ttl == timedelta(minutes=1)
    assert settings.timezone == ZoneInfo("Europe/Budapest")
    assert read(environ, leased_beat_namespace="wiki").namespace == "wiki"


def test_an_empty_variable_is_no_setting() -> None:
    assert read({"SCHEDULER_NAMESPACE": ""}).namespace == "shop"


@pytest.mark.parametrize(
    ("value", "seconds"),
    [(15, 15), (1.5, 1.5), ("15", 15), ("15s", 15), ("1m30s", 90), (" 15s ", 15), (timedelta(minutes=2), 120), (1, 1)],
)
def test_a_lease_ttl_is_seconds_a_timedelta_or_a_duration(value: Any, seconds: float) -> None:
    assert read(leased_beat_lease_ttl=value).lease_ttl == timedelta(seconds=seconds)


@pytest.mark.parametrize(
    "value",
    [0, -1, 0.0004, "0", "999ms", "-15s", timedelta(0), "2h", True, "", "soon", "15 s", [], float("nan"), float("inf")],
)
def test_a_lease_ttl_that_cannot_be_kept_is_refused_by_name(value: Any) -> None:
    message = refusal(leased_beat_lease_ttl=value)
    assert message.startswith(f"leased_beat_lease_ttl is {value!r}: ")
    assert "from 1s to 1h is allowed" in message


def test_a_refusal_names_the_variable_that_the_value_came_from() -> None:
    assert "leased_beat_lease_ttl (from SCHEDULER_LEASE_TTL) is '0'" in refusal({"SCHEDULER_LEASE_TTL": "0"})


@pytest.mark.parametrize("url", ["amqp://u:secret@h//", "http://x", "nonsense", "", 7, "redis://a;redis://b:secret@c"])
def test_a_backend_that_holds_no_lease_is_refused_without_its_password(url: Any) -> None:
    message = refusal(leased_beat_backend=url)
    assert message.startswith("leased_beat_backend is ")
    assert "secret" not in message


@pytest.mark.parametrize(
    "url",
    [
        "redis://h", "rediss://h", "valkey://h", "valkeys://h", "unix:///run/valkey.sock", "redis+socket:///run/v.sock",
        "valkey+socket:///run/v.sock", "sentinel://h1:26379;sentinel://h2:26379/0", "redis+cluster://h1;h2",
        "rediss+cluster://h1;h2", "valkey+cluster://h1;h2", "valkeys+cluster://h1;h2",
    ],
)  # fmt: skip
def test_each_scheme_of_a_lease_server_is_taken(url: str) -> None:
    assert read(leased_beat_backend=url).backend_url == url


def test_each_scheme_is_in_the_docs() -> None:
    docs = (Path(__file__).parents[2] / "docs" / "settings.md").read_text()
    assert [scheme for scheme in SCHEMES if f"`{scheme}://" not in docs] == []


def test_the_result_backend_serves_where_the_broker_does_not() -> None:
    settings = Settings.read(
        {}.get, {}, app_name="shop", timezone=UTC, broker_url="amqp://h", broker_options={"a": 1},
        result_backend="redis://results/3", result_backend_options={"b": 2},
    )  # fmt: skip
    assert settings.backend_url == "redis://results/3"
    assert settings.transport_options == {"b": 2}


@pytest.mark.parametrize("broker", [None, "amqp://guest:secret@h", "memory://", "redis://a;redis://b"])
def test_without_any_lease_server_one_line_names_the_setting(broker: str | None) -> None:
    with pytest.raises(SettingsError, match="leased_beat_backend") as refused:
        Settings.read({}.get, {}, app_name="shop", timezone=UTC, broker_url=broker)
    assert "\n" not in str(refused.value)
    assert "such as redis://localhost:6379/0" in str(refused.value)
    assert "secret" not in str(refused.value)


@pytest.mark.parametrize("name", [None, "", "__main__"])
def test_an_app_without_a_name_of_its_own_has_to_set_the_namespace(name: str | None) -> None:
    with pytest.raises(SettingsError, match="leased_beat_namespace is not set"):
        Settings.read({}.get, {}, app_name=name, timezone=UTC, broker_url=BROKER)
    given = Settings.read({"leased_beat_namespace": "x"}.get, {}, app_name=name, timezone=UTC, broker_url=BROKER)
    assert given.namespace == "x"


@pytest.mark.parametrize("namespace", ["a{b", "a}b", "a b", "x" * 201, 7, "", "a\x00b", "a\x1b[1m", "\udcff"])
def test_a_namespace_that_would_break_the_keys_is_refused(namespace: Any) -> None:
    assert refusal(leased_beat_namespace=namespace).startswith(f"leased_beat_namespace is {namespace!r}: ")


def test_an_unknown_zone_is_refused_by_name() -> None:
    assert refusal(leased_beat_timezone="Mars/Olympus").startswith("leased_beat_timezone is 'Mars/Olympus': ")


@pytest.mark.parametrize("value", ["59m", timedelta(minutes=59), 0])
def test_a_marker_lives_an_hour_at_least(value: Any) -> None:
    assert refusal(leased_beat_marker_ttl=value).startswith("leased_beat_marker_ttl is ")


def test_a_marker_outlives_the_visibility_timeout() -> None:
    day = timedelta(days=1)
    sources: dict[str, Any] = {"app_name": "shop", "timezone": UTC, "broker_url": BROKER, "visibility_timeout": day}
    assert Settings.read({}.get, {}, **sources).marker_ttl > day
    with pytest.raises(SettingsError, match="from 24h to"):
        Settings.read({"leased_beat_marker_ttl": "12h"}.get, {}, **sources)


@pytest.mark.parametrize("path", ["shop", "shop.", "shop jobs.x", 7, "..shop.jobs", "shop..jobs", "shop.2"])
def test_the_path_of_a_schedule_is_dotted(path: Any) -> None:
    assert read(leased_beat_schedule="shop.jobs.schedule").schedule_path == "shop.jobs.schedule"
    assert refusal(leased_beat_schedule=path).startswith(f"leased_beat_schedule is {path!r}: ")


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("redis://h:6379/0", "redis://h:6379/0"),
        ("redis://user:pass@h:6379/0", "redis://***@h:6379/0"),
        ("redis://:p@ss/word@h/0", "redis://***@h/0"),
        ("redis://h/0?password=pass&db=1", "redis://h/0?password=***&db=1"),
        ("sentinel://:p@h1:1;sentinel://:q@h2:2/0", "sentinel://***@h1:1;sentinel://***@h2:2/0"),
        ("unix:///run/valkey.sock", "unix:///run/valkey.sock"),
    ],
)
def test_a_url_is_shown_without_its_credentials(url: str, shown: str) -> None:
    assert safe_url(url) == shown


def test_settings_show_no_password() -> None:
    assert "secret" not in repr(read())


# -- of an app -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("namespace", "names"),
    [
        ("CELERY", {"CELERY_LEASED_BEAT_NAMESPACE": "blog", "CELERY_BROKER_URL": BROKER}),
        ("MYAPP", {"MYAPP_LEASED_BEAT_NAMESPACE": "blog", "MYAPP_BROKER_URL": BROKER}),
        (None, {"LEASED_BEAT_NAMESPACE": "blog", "BROKER_URL": BROKER}),
        (None, {"CELERY_LEASED_BEAT_NAMESPACE": "blog", "BROKER_URL": BROKER}),
        (None, {"leased_beat_namespace": "blog", "broker_url": BROKER}),
    ],
)
def test_the_settings_of_an_app_are_found_whatever_its_prefix(namespace: str | None, names: dict[str, str]) -> None:
    app = Celery("shop", set_as_current=False)
    app.config_from_object(SimpleNamespace(**names), namespace=namespace)
    assert settings_for(app).namespace == "blog"
    assert settings_for(app).backend_url == BROKER


CELERY, MYAPP = (
    {f"{prefix}_{name}": value for name, value in {
        "BROKER_URL": "amqp://h", "LEASED_BEAT_BACKEND": "valkey://:secret@h:1/2", "LEASED_BEAT_NAMESPACE": "blog",
        "LEASED_BEAT_LEASE_TTL": "20s", "LEASED_BEAT_TIMEZONE": "Asia/Tokyo",
    }.items()}
    for prefix in ("CELERY", "MYAPP")
)  # fmt: skip
UPPER = {name.removeprefix("CELERY_"): value for name, value in CELERY.items()}
#: Variables of the environment, with what an app has to have besides.
VARIABLES = {
    "VALKEY_URL": CELERY["CELERY_LEASED_BEAT_BACKEND"], "SCHEDULER_NAMESPACE": "blog", "SCHEDULER_LEASE_TTL": "20",
    "SCHEDULER_TIMEZONE": "Asia/Tokyo",
}  # fmt: skip


@pytest.mark.parametrize(
    ("prefix", "names", "environ"),
    [
        ("CELERY", CELERY, {}),
        ("MYAPP", MYAPP, {}),
        (None, UPPER, {}),
        (None, {**CELERY, "BROKER_URL": CELERY["CELERY_BROKER_URL"]}, {}),
        (None, {name.lower(): value for name, value in UPPER.items()}, {}),
        (None, {"broker_url": "amqp://h"}, VARIABLES),
        ("CELERY", {"CELERY_BROKER_URL": "amqp://h"}, VARIABLES),
    ],
    ids=["CELERY", "MYAPP", "upper case", "old upper case", "lower case", "environment", "environment with a prefix"],
)  # fmt: skip
def test_the_banner_shows_the_settings_wherever_they_were_written(
    prefix: str | None, names: dict[str, str], environ: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in environ.items():
        monkeypatch.setenv(name, value)
    app = Celery("shop", set_as_current=False)
    app.config_from_object(SimpleNamespace(**names), namespace=prefix)
    shown = [line.strip() for line in Scheduler(app, lazy=True).info.splitlines()]
    assert shown[:4] == [
        ". lease -> valkey://***@h:1/2 clb:{blog}:lease", ". namespace -> blog", ". lease ttl -> 20 s",
        ". timezone -> Asia/Tokyo",
    ]  # fmt: skip


@pytest.mark.parametrize("scheme", ["valkey", "valkeys"])
def test_a_broker_that_celery_does_not_know_by_this_name_is_told_so(scheme: str) -> None:
    app = Celery("shop", broker=f"{scheme}://:secret@h", set_as_current=False)
    with pytest.raises(SettingsError, match=f"knows Valkey as {scheme.replace('valkey', 'redis')}://") as refused:
        settings_for(app)
    assert "secret" not in str(refused.value)
    app.conf.broker_url = "redis://h"
    app.conf.leased_beat_backend = f"{scheme}://h"
    assert settings_for(app).backend_url == f"{scheme}://h"


def test_two_apps_with_default_settings_have_two_namespaces() -> None:
    shop, blog = (Celery(name, broker=BROKER, set_as_current=False) for name in ("shop", "blog"))
    assert {settings_for(shop).namespace, settings_for(blog).namespace} == {"shop", "blog"}


@pytest.mark.parametrize("zone", ["UTC", "America/New_York", "Asia/Shanghai", "Europe/London"])
@pytest.mark.parametrize("enable_utc", [True, False])
def test_the_zone_is_the_apps(zone: str, enable_utc: bool) -> None:
    app = Celery("shop", broker=BROKER, set_as_current=False, timezone=zone, enable_utc=enable_utc)
    assert settings_for(app).timezone == ZoneInfo(zone)


def test_the_brokers_options_go_with_its_url() -> None:
    app = Celery("shop", broker="sentinel://h1;sentinel://h2", set_as_current=False)
    app.conf.broker_transport_options = {"master_name": "main", "visibility_timeout": 7200}
    app.conf.broker_use_ssl = {"ssl_ca_certs": "/ca.pem"}
    options = {**app.conf.broker_transport_options, "ssl": app.conf.broker_use_ssl}
    assert settings_for(app).transport_options == options
    app.conf.leased_beat_backend = "redis://elsewhere"
    assert settings_for(app).transport_options == {}
    app.conf.leased_beat_transport_options = {"socket_timeout": 1}
    assert settings_for(app).transport_options == {"socket_timeout": 1}


@pytest.mark.parametrize("accepted", [["pickle"], {"application/x-python-serialize"}, "json", 5])
def test_an_app_that_refuses_json_is_told_so(accepted: Any) -> None:
    app = Celery("shop", broker=BROKER, set_as_current=False, accept_content=accepted)
    with pytest.raises(SettingsError, match="accept_content"):
        settings_for(app)


@pytest.mark.parametrize("seconds", ["an hour", None, float("inf"), float("nan"), timedelta(hours=1)])
def test_a_visibility_timeout_that_is_no_number_is_told_so(seconds: Any) -> None:
    options = {"visibility_timeout": seconds}
    app = Celery("shop", broker=BROKER, set_as_current=False, broker_transport_options=options)
    with pytest.raises(SettingsError, match=r"^broker_transport_options has the visibility_timeout .* is wanted$"):
        settings_for(app)


@pytest.mark.parametrize("name", ["broker_transport_options", "result_backend_transport_options"])
@pytest.mark.parametrize("options", ["master", 5, ["master"]])
def test_options_of_celerys_that_are_no_dictionary_are_told_so(name: str, options: Any) -> None:
    app = Celery("shop", broker=BROKER, set_as_current=False, **{name: options})
    with pytest.raises(SettingsError, match=f"^{name} is .*: a dictionary is wanted$"):
        settings_for(app)


@pytest.mark.parametrize("zone", ["Mars/Olympus", "Europe", 5])
def test_a_zone_that_celery_does_not_know_is_told_so(zone: Any) -> None:
    app = Celery("shop", broker=BROKER, set_as_current=False, timezone=zone)
    with pytest.raises(SettingsError, match=f"^timezone is {zone!r}: "):
        settings_for(app)


@pytest.mark.parametrize("seconds", [-1, float("nan"), float("inf"), 1e300, "soon"])
def test_a_starting_deadline_that_is_no_time_is_told_so(seconds: Any) -> None:
    app = Celery("shop", broker=BROKER, set_as_current=False, beat_cron_starting_deadline=seconds)
    with pytest.raises(SettingsError, match=r"^beat_cron_starting_deadline is .*: seconds are wanted, or None$"):
        Runner(app)


def test_a_server_that_cannot_be_used_ends_a_beat_before_its_first_turn() -> None:
    app = Celery("shop", broker="redis://localhost:99999", set_as_current=False)
    with pytest.raises(SystemExit, match=r"leased_beat_backend .* cannot be used: Port out of range"):
        Scheduler(app, lazy=True)


# -- the version -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("value", ["1.4.2", 412, "v2", "2026.07.01-3", "2.0rc1", " 1.0 "])
def test_a_version_is_one_that_can_be_newer_than_another(value: Any) -> None:
    assert read(leased_beat_version=value).version == str(value).strip()
    assert read({"SCHEDULER_VERSION": str(value)}).version == str(value).strip()
    assert read().version is None


@pytest.mark.parametrize("value", ["a3f09c1", "main", "", True, 1.1, ["1"], "1 2", "9" * 5000])
def test_a_version_that_has_no_order_is_refused_by_name(value: Any) -> None:
    assert refusal(leased_beat_version=value).startswith(f"leased_beat_version is {value!r}: ")
