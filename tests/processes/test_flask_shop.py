"""``examples/flask_shop``: the factory, its Celery app, and the handlers in the app's context."""

import os
import urllib.request
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from celery_leased_beat.fires import fire_id, listener_id
from celery_leased_beat.timing import Cron
from examples.valkey import HOST, Server, free_port
from tests.nodes.process import ROOT
from tests.nodes.programs import require_module
from tests.nodes.waiting import wait_until
from tests.processes.shops import DATABASE, Row, Shop, assert_on_grid, at_least, banner, latest, registered

PROJECT = ROOT / "examples" / "flask_shop"
NAMESPACE = "flask_shop"  # the app's name, since the project sets none
ZONE = ZoneInfo("Europe/Budapest")

SYNC, COUNT, DAILY, VIP, CLEANUP = (
    "shop.sync_inventory", "shop.count_syncs", "shop.digest_due", "digest for the impatient", "celery.backend_cleanup"
)  # fmt: skip
#: Each entry of the project's own with the task that it sends.
ENTRIES = {
    SYNC: "schedule:shop.sync_inventory",
    COUNT: "job:shop.count_syncs",
    DAILY: "schedule:shop.digest_due",
    VIP: "schedule:shop.digest_due",
}

Digests = Callable[..., list[Row]]


@pytest.fixture(scope="module")
def valkey(server: Server) -> Iterator[Server]:
    """One of this module's own."""
    with Server() as valkey:
        yield valkey


@pytest.fixture(scope="module")
def shop(valkey: Server, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shop]:
    require_module("flask")
    folder = tmp_path_factory.mktemp("shop")
    environment = {
        "PYTHONPATH": os.pathsep.join(map(str, [PROJECT, ROOT])),
        "FLASK_DATABASE": str(folder / DATABASE),
        "FLASK_CELERY__broker_url": valkey.url,
    }
    with Shop("make_celery", NAMESPACE, valkey=valkey.url, folder=folder, environment=environment) as shop:
        shop.start()
        yield shop


@pytest.fixture
def digests(shop: Shop) -> Digests:
    """Waits for the digests for an audience, so many at least."""

    def digests(audience: str, least: int = 1) -> list[Row]:
        return at_least(least, lambda: find(shop, f"digest WHERE audience = '{audience}'"), f"digests for {audience}")

    return digests


def find(shop: Shop, query: str) -> list[Row]:
    rows = shop.rows(f"SELECT envelope, instant FROM {query}")
    return [(envelope, datetime.fromisoformat(instant)) for envelope, instant in rows]


def test_the_grids_are_handled_at_their_instants(shop: Shop, digests: Digests) -> None:
    assert_on_grid(shop, VIP, timedelta(seconds=10), digests("vip", 2))
    assert_on_grid(shop, SYNC, timedelta(seconds=5), find(shop, "sync"))


def test_what_is_due_once_a_day_is_handled_at_the_time_of_the_celery_app(shop: Shop, digests: Digests) -> None:
    ((envelope, instant),) = digests("all")
    assert instant == latest(Cron("30 6 * * *", ZONE))
    assert envelope == fire_id(NAMESPACE, DAILY, instant)

    night = latest(Cron("0 3 * * *", ZONE)).astimezone(ZONE)
    counts = wait_until(lambda: shop.rows("SELECT day FROM daily_count"), "the count of the night")
    assert counts == [(night.date().isoformat(),)]


def test_each_listener_gets_what_is_scheduled_and_what_a_visitor_causes(shop: Shop, digests: Digests) -> None:
    port = free_port()
    shop.serve("web", "-m", "flask", "--app", "flask_shop", "run", "--port", str(port), prompt="Running on")
    request = urllib.request.Request(f"http://{HOST}:{port}/digests/friends", method="POST")
    with urllib.request.urlopen(request, timeout=20) as answer:
        assert answer.status == 202
    for audience in ("all", "vip", "friends"):
        envelope, _ = digests(audience)[0]
        shop.wait_for(f"listener:{DAILY}:mail_digest[{listener_id(envelope, 'mail_digest')}] succeeded")
        shop.wait_for(f"mail of what is new for {audience}")


def test_beat_and_the_worker_know_the_same_entries(shop: Shop) -> None:
    assert shop.served() == {*ENTRIES, CLEANUP}
    assert set(ENTRIES.values()) <= registered(shop.nodes["worker"])
    assert banner(shop.nodes["beat-1"])["entries"] == f"{len(ENTRIES)}, and {CLEANUP}"


@pytest.mark.usefixtures("installed")
def test_the_audit_knows_the_same_entries_and_finds_them_in_order(shop: Shop) -> None:
    audit = shop.audit()
    assert {entry["name"] for entry in audit["entries"]} == {*ENTRIES, CLEANUP}
    assert audit["clean"]
    assert not audit["removed"]


def test_a_second_project_on_the_same_valkey_has_a_lease_of_its_own(shop: Shop, valkey: Server, tmp_path: Path) -> None:
    (tmp_path / "other.py").write_text(
        "from celery import Celery\n"
        "from celery_leased_beat import Schedule\n"
        f"app = Celery('other', broker={valkey.url!r}, changes={{'task_default_queue': 'other'}})\n"
        "app.conf.beat_scheduler = 'celery_leased_beat.Scheduler'\n"
        "Schedule(app).job('other.job', '@hourly', print)\n"
    )
    path = os.pathsep.join(map(str, [tmp_path, ROOT]))
    with Shop("other", "other", valkey=valkey.url, folder=tmp_path, environment={"PYTHONPATH": path}) as other:
        other.beat("beat-1")
        assert other.elected() != shop.elected()
        assert other.served() == {"other.job", CLEANUP}
    assert shop.served() == {*ENTRIES, CLEANUP}
