"""``examples/django_shop``, with and without ``USE_TZ``."""

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import UUID
from zoneinfo import ZoneInfo

import pytest

from celery_leased_beat.fires import fire_id, listener_id
from celery_leased_beat.timing import Cron
from examples.valkey import Server
from tests.nodes.process import ROOT
from tests.nodes.programs import require_module
from tests.nodes.waiting import wait_until
from tests.processes.shops import DATABASE, Row, Shop, assert_on_grid, at_least, banner, latest, registered

PROJECT = ROOT / "examples" / "django_shop"
EXTRAS = Path(__file__).parent / "django_extras"
NAMESPACE = "shop"
ZONE = ZoneInfo("Europe/Budapest")

SYNC, COUNT, DAILY, VIP, FORGET, CLEANUP = (
    "catalogue.sync_inventory", "catalogue.count_syncs", "marketing.digest_due", "digest for the impatient",
    "forget old syncs", "celery.backend_cleanup",
)  # fmt: skip
#: Each entry with the task that it sends. The last one is Celery's own.
ENTRIES = {
    SYNC: "schedule:catalogue.sync_inventory",
    COUNT: "job:catalogue.count_syncs",
    DAILY: "schedule:marketing.digest_due",
    VIP: "schedule:marketing.digest_due",
    FORGET: "catalogue.tasks.forget_old_syncs",
    CLEANUP: "celery.backend_cleanup",
}

#: The environment of each way to run it: in the second one neither Django nor Celery nor the host is in UTC.
WAYS = {
    "with USE_TZ": {"SHOP_USE_TZ": "1"},
    "without USE_TZ": {"SHOP_USE_TZ": "0", "DJANGO_SETTINGS_MODULE": "local_time", "TZ": "Asia/Tokyo"},
}

Open = Callable[..., Shop]
Digests = Callable[[str], list[Row]]


@pytest.fixture(scope="module")
def open_shop(server: Server, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Open]:
    """Opens a shop with a Valkey and a database of its own, both empty."""
    require_module("django")
    with ExitStack() as stack:

        def open_shop(project: Path = PROJECT, **environment: str) -> Shop:
            url, folder = stack.enter_context(Server()).url, tmp_path_factory.mktemp("shop")
            settings = {
                "PYTHONPATH": os.pathsep.join(map(str, [project, EXTRAS, ROOT])),
                "SHOP_DATABASE": str(folder / DATABASE),
                "VALKEY_URL": url,
                **environment,
            }
            shop = Shop("django_shop", NAMESPACE, valkey=url, folder=folder, environment=settings)
            manage(shop, "migrate")
            return stack.enter_context(shop)

        yield open_shop


@pytest.fixture(scope="module", params=WAYS)
def way(request: pytest.FixtureRequest) -> dict[str, str]:
    return WAYS[request.param]


@pytest.fixture(scope="module")
def shop(way: dict[str, str], open_shop: Open) -> Shop:
    shop = open_shop(**way)
    shop.start()
    return shop


@pytest.fixture
def find(shop: Shop, way: dict[str, str]) -> Callable[[str], list[Row]]:
    """Finds what a query selects, envelopes and instants as Django keeps them."""
    zone = UTC if way["SHOP_USE_TZ"] == "1" else ZONE

    def find(query: str) -> list[Row]:
        rows = shop.rows(f"SELECT envelope, instant FROM {query}")
        return [
            (str(UUID(envelope)), datetime.fromisoformat(instant).replace(tzinfo=zone)) for envelope, instant in rows
        ]

    return find


@pytest.fixture
def digests(find: Callable[[str], list[Row]]) -> Digests:
    """Waits for the digests for an audience, so many at least."""

    def digests(audience: str, least: int = 1) -> list[Row]:
        query = f"marketing_digest WHERE audience = '{audience}'"
        return at_least(least, lambda: find(query), f"digests for {audience}")

    return digests


def manage(shop: Shop, *arguments: str) -> None:
    done = shop.run(str(PROJECT / "manage.py"), *arguments)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_grids_are_handled_at_their_instants(
    shop: Shop, find: Callable[[str], list[Row]], digests: Digests
) -> None:
    assert_on_grid(shop, VIP, timedelta(seconds=10), digests("vip", 2))
    assert_on_grid(shop, SYNC, timedelta(seconds=5), find("catalogue_sync"))


def test_what_is_due_once_a_day_is_handled_at_the_time_of_the_project(shop: Shop, digests: Digests) -> None:
    ((envelope, instant),) = digests("all")
    assert instant == latest(Cron("30 6 * * *", ZONE))
    assert envelope == fire_id(NAMESPACE, DAILY, instant)

    night = latest(Cron("0 3 * * *", ZONE)).astimezone(ZONE)
    counts = wait_until(lambda: shop.rows("SELECT day FROM catalogue_dailycount"), "the count of the night")
    assert counts == [(night.date().isoformat(),)]


def test_what_the_settings_had_already_is_handled(shop: Shop) -> None:
    fire = fire_id(NAMESPACE, FORGET, latest(Cron("0 4 * * *", ZONE)))
    shop.wait_for(f"catalogue.tasks.forget_old_syncs[{fire}] succeeded")


def test_each_listener_gets_what_is_scheduled_and_what_is_dispatched(shop: Shop, digests: Digests) -> None:
    imports = "from django_shop.celery import events; from marketing.events import DigestDue"
    manage(shop, "shell", "-c", f"{imports}; events.dispatch(DigestDue('friends'))")
    for audience in ("all", "vip", "friends"):
        envelope, _ = digests(audience)[0]
        shop.wait_for(f"listener:{DAILY}:mail_digest[{listener_id(envelope, 'mail_digest')}] succeeded")
        shop.wait_for(f"To: {audience}@example.com")


def test_beat_and_the_worker_know_the_same_entries(shop: Shop) -> None:
    assert shop.served() == set(ENTRIES)
    assert set(ENTRIES.values()) - registered(shop.nodes["worker"]) == {ENTRIES[CLEANUP]}, (
        "shown is what is not Celery's"
    )


@pytest.mark.usefixtures("installed")
def test_the_audit_knows_the_same_entries_and_finds_them_in_order(shop: Shop) -> None:
    audit = shop.audit()
    assert {entry["name"] for entry in audit["entries"]} == set(ENTRIES)
    assert audit["clean"]
    assert not audit["removed"]


def test_the_banner_shows_the_settings(shop: Shop) -> None:
    assert_banner(shop)


def test_another_prefix_of_the_settings_is_as_good(open_shop: Open, tmp_path: Path) -> None:
    project = shutil.copytree(PROJECT, tmp_path / "project")
    replace(project / "django_shop" / "celery.py", 'namespace="CELERY"', 'namespace="MYAPP"')
    replace(project / "django_shop" / "settings.py", "CELERY_", "MYAPP_")
    shop = open_shop(project)
    shop.beat("beat-1")
    assert_banner(shop)


def test_a_project_without_a_server_for_the_lease_is_told_so_in_one_line(open_shop: Open, tmp_path: Path) -> None:
    project = shutil.copytree(PROJECT, tmp_path / "project")
    settings = project / "django_shop" / "settings.py"
    replace(settings, "CELERY_LEASED_BEAT_BACKEND = VALKEY_URL", "")
    replace(settings, "CELERY_BROKER_URL = VALKEY_URL", "CELERY_BROKER_URL = 'amqp://localhost'")
    done = open_shop(project, VALKEY_URL="").run("-m", "celery", "-A", "django_shop", "beat")
    assert done.returncode != 0
    assert "leased_beat_backend is not set" in done.stderr.splitlines()[-1]
    assert "Traceback" not in done.stderr


def test_no_connection_to_the_database_is_carried_over_a_fork(open_shop: Open) -> None:
    """Its schedule reads the database: in the main process of a worker, before it forks its pool and its beat."""
    shop = open_shop(DJANGO_SETTINGS_MODULE="probing")
    worker = shop.worker("worker", "-B")
    notes = shop.folder / "connections.txt"

    def users() -> set[str]:
        return {line.split()[0] for line in notes.read_text().splitlines()}

    wait_until(lambda: len(users()) == 1 + 2, "the main process and both children have used a connection")
    assert str(worker.pid) in users()
    for line in notes.read_text().splitlines():
        user, opener = line.split()
        assert user == opener
    assert shop.served() == {*ENTRIES, "probe.look"}, "a beat inside a worker knows the same entries"


def assert_banner(shop: Shop) -> None:
    shown = banner(shop.nodes["beat-1"])
    port = shop.valkey.connection_pool.connection_kwargs["port"]
    assert shown["lease"] == f"redis://127.0.0.1:{port}/0 clb:{{shop}}:lease"
    assert (shown["namespace"], shown["lease ttl"], shown["timezone"]) == ("shop", "10 s", "Europe/Budapest")
    assert shown["entries"] == f"{len(ENTRIES) - 1}, and {CLEANUP}"


def replace(file: Path, old: str, new: str) -> None:
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new))
