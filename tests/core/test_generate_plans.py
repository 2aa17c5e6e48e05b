"""What is written where: modules and packages, and files as they are on a disk."""

import os
import stat
from pathlib import Path

import pytest

from celery_leased_beat.errors import ScheduleError
from celery_leased_beat.generate import (
    Import,
    Package,
    Plan,
    When,
    plan_event,
    plan_job,
    plan_listener,
    require_event,
    write_changes,
)

NIGHTLY = When("cron", "0 3 * * *")
EVENTS = Import("proj.celery", "events")


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Package:
    """An empty package, in the folder in which commands run."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "shop").mkdir()
    (tmp_path / "shop" / "__init__.py").touch()
    return Package("shop", tmp_path / "shop")


def put(package: Package, name: str, text: str = "") -> None:
    path = package.folder / f"{name}.py"
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)


def write(plan: Plan) -> list[str]:
    write_changes(plan.changes)
    return [f"{'wrote' if change.is_new else 'changed'} {change.file.shown}" for change in plan.changes]


def add_job(package: Package, name: str = "report") -> Plan:
    return plan_job(package, name, NIGHTLY)


def add_event(package: Package, name: str = "digest_due") -> Plan:
    return plan_event(package, name, NIGHTLY)


def add_listener(package: Package) -> Plan:
    return plan_listener(package, "send_digest", require_event(package, "digest_due"), EVENTS)


def test_an_empty_package_gets_its_modules(shop: Package) -> None:
    assert write(add_job(shop)) == ["wrote shop/jobs.py"]
    assert write(add_event(shop)) == ["wrote shop/events.py", "changed shop/jobs.py"]
    assert write(add_listener(shop)) == ["wrote shop/tasks.py"]
    assert sorted(os.listdir(shop.folder)) == ["__init__.py", "events.py", "jobs.py", "tasks.py"]
    for plan in (add_job(shop), add_event(shop), add_listener(shop)):
        assert plan.is_there
        assert plan.changes == ()


def test_packages_get_a_file_for_each(shop: Package) -> None:
    put(shop, "jobs/__init__")
    put(shop, "events/__init__")
    put(shop, "tasks/__init__", '"""Mine."""')
    assert write(add_job(shop)) == ["wrote shop/jobs/report.py", "changed shop/jobs/__init__.py"]
    assert write(add_event(shop)) == [
        "wrote shop/events/digest_due.py",
        "wrote shop/jobs/digest_due.py",
        "changed shop/jobs/__init__.py",
    ]
    assert write(add_listener(shop)) == ["wrote shop/tasks/send_digest.py", "changed shop/tasks/__init__.py"]
    assert "from shop.events.digest_due import DigestDue\n" in (shop.folder / "tasks/send_digest.py").read_text()
    assert (shop.folder / "tasks/__init__.py").read_text() == (
        '"""Mine."""\n\nfrom . import send_digest as send_digest\n'
    )
    for plan in (add_job(shop), add_event(shop), add_listener(shop)):
        assert plan.is_there
        assert plan.changes == ()


def test_a_handler_in_a_file_of_its_own_may_be_written_on(shop: Package) -> None:
    put(shop, "jobs/__init__")
    write(add_job(shop))
    handler = shop.folder / "jobs/report.py"
    handler.write_text(handler.read_text().replace("logging.getLogger", "print('mine')\n    logging.getLogger"))
    assert add_job(shop).changes == ()


def test_what_was_half_done_is_finished(shop: Package) -> None:
    put(shop, "jobs/__init__")
    write(add_job(shop))
    put(shop, "jobs/__init__")
    assert write(add_job(shop)) == ["changed shop/jobs/__init__.py"]


def test_an_event_without_a_spec_is_a_class_only(shop: Package) -> None:
    assert write(plan_event(shop, "digest_due", None)) == ["wrote shop/events.py"]
    assert plan_event(shop, "digest_due", None).is_there
    assert write(add_event(shop)) == ["wrote shop/jobs.py"]


def test_listeners_go_where_there_are_some(shop: Package) -> None:
    put(shop, "listeners")
    put(shop, "tasks")
    write(add_event(shop))
    assert write(add_listener(shop)) == ["changed shop/listeners.py"]


def test_an_event_is_found_under_another_name_than_its_packages(shop: Package) -> None:
    put(shop, "events", '@event("store.digest_due")\nclass Due: ...\n')
    assert require_event(shop, "digest_due") == ("store.digest_due", Import("shop.events", "Due"))


def test_an_event_that_is_not_there_is_an_error_that_says_which_are(shop: Package) -> None:
    with pytest.raises(
        ScheduleError, match=r"has no event 'shop\.digest', there is none; add it: leased-beat add event"
    ):
        require_event(shop, "digest")
    write(add_event(shop))
    with pytest.raises(ScheduleError, match=r"has no event 'shop\.digest', there are shop\.digest_due; "):
        require_event(shop, "digest")


@pytest.mark.parametrize(
    "taken",
    [
        "from .events import DigestDue\n\ndef register(schedule):\n    schedule.daily(DigestDue())\n",
        "from .events import DigestDue as Due\n\ndef register(schedule):\n    schedule.every('5s', Due())\n",
        "from shop import events\n\ndef register(schedule):\n    schedule.cron('@daily', events.DigestDue())\n",
        "from .other import Due\n\ndef register(schedule):\n    schedule.daily(Due(), name='shop.digest_due')\n",
        "from .other import due\n\ndef register(schedule):\n    schedule.cron('@daily', due, name='shop.digest_due')\n",
        "@event('shop.digest_due')\nclass Due: ...\n\ndef register(s): s.daily(Due())\n",
    ],
)
def test_a_job_of_the_name_of_an_entry_of_an_event_is_an_error(shop: Package, taken: str) -> None:
    put(shop, "events", "@event('shop.digest_due')\nclass DigestDue: ...\n")
    put(shop, "jobs", taken)
    error = r"^shop/jobs\.py has an entry 'shop\.digest_due' already, in line 4; take another name$"
    with pytest.raises(ScheduleError, match=error):
        add_job(shop, "digest_due")
    assert add_job(shop).changes


@pytest.mark.parametrize(
    "taken",
    [
        "def register(schedule):\n    schedule.job('shop.digest_due', '@daily', print)\n",
        "schedule = Schedule()\n@schedule.job(spec='@daily', name='shop.digest_due')\ndef digest(): ...\n",
        "def register(schedule):\n    schedule.daily(DigestDue(), name='shop.digest_due')\n",
    ],
)
def test_an_event_of_the_name_of_another_entry_is_an_error(shop: Package, taken: str) -> None:
    put(shop, "jobs", taken)
    with pytest.raises(ScheduleError, match=r"^shop/jobs\.py has an entry 'shop\.digest_due' already, in line 2"):
        add_event(shop)
    assert plan_event(shop, "digest_due", None).changes


def test_an_entry_of_a_foreign_class_of_that_name_takes_none(shop: Package) -> None:
    put(shop, "events", "@event('shop.digest_due')\nclass DigestDue: ...\n")
    put(
        shop, "jobs", "from other.events import DigestDue\n\ndef register(schedule):\n    schedule.daily(DigestDue())\n"
    )
    assert add_job(shop, "digest_due").changes


def test_an_entry_of_another_name_takes_none(shop: Package) -> None:
    put(shop, "events", "@event('shop.digest_due')\nclass DigestDue: ...\n")
    put(shop, "jobs", "from .events import DigestDue\n\ndef register(s):\n    s.daily(DigestDue(), name='daily')\n")
    assert add_job(shop, "digest_due").changes
    assert add_event(shop).changes


def test_a_name_that_another_file_of_the_package_has_is_an_error(shop: Package) -> None:
    put(shop, "events", "@event('shop.digest_due')\nclass DigestDue: ...\n")
    put(shop, "jobs/__init__", "def register(schedule):\n    schedule.job('shop.report', '@daily', print)\n")
    with pytest.raises(
        ScheduleError, match=r"^shop/jobs/__init__\.py has an entry 'shop\.report' already, in line 2; "
    ):
        add_job(shop)
    put(shop, "tasks/__init__")
    put(shop, "tasks/mail", "@events.listener(DigestDue)\ndef send_digest(event): ...\n")
    with pytest.raises(ScheduleError, match=r"^shop/tasks/mail\.py has the listener send_digest of "):
        add_listener(shop)


@pytest.mark.parametrize(
    "taken",
    [
        "@events.listener(DigestDue, name='send_digest')\ndef send(event): ...\n",
        "def listen(events):\n    @events.listener(DigestDue)\n    def send_digest(event): ...\n",
        "events.listener(DigestDue)(send_digest)\n",
        "events.listener(DigestDue, name='send_digest')(lambda event: None)\n",
    ],
)
def test_a_listener_is_found_however_it_is_written(shop: Package, taken: str) -> None:
    write(add_event(shop))
    put(shop, "tasks", f"from shop.events import DigestDue\n{taken}")
    assert add_listener(shop).changes == ()
    put(shop, "tasks", f"from shop.events import DigestDue\n{taken.replace('send_digest', 'another')}")
    assert add_listener(shop).changes


def test_a_module_that_would_hide_a_name_of_its_package_is_an_error(shop: Package) -> None:
    put(shop, "__init__", "app = Celery()\nevents = Events(app)\n")
    with pytest.raises(
        ScheduleError, match=r"^shop/__init__\.py has a 'events' of its own, in line 2, which the module"
    ):
        add_event(shop)
    assert add_job(shop).changes


def test_a_folder_that_is_no_package_is_an_error(shop: Package) -> None:
    (shop.folder / "jobs").mkdir()
    with pytest.raises(ScheduleError, match=r"^shop/jobs is a folder without __init__\.py"):
        add_job(shop)
    put(shop, "jobs")
    assert write(add_job(shop)) == ["changed shop/jobs.py"]


@pytest.mark.parametrize(
    ("head", "encoding"),
    [
        (b"", "utf-8"),
        (b"\xef\xbb\xbf", "utf-8"),
        (b"# -*- coding: latin-1 -*-\r\n", "latin-1"),
    ],
)
def test_a_file_keeps_its_encoding_and_its_newlines(shop: Package, head: bytes, encoding: str) -> None:
    raw = head + 'CAFÉ = "é"\r\n'.encode(encoding)
    path = shop.folder / "events.py"
    path.write_bytes(raw)
    write(plan_event(shop, "digest_due", None))
    after = path.read_bytes()
    assert after.startswith(head)
    assert raw.removeprefix(head) in after
    assert after.count(b"\r\n") == after.count(b"\n")


def test_a_file_that_cannot_be_read_is_an_error(shop: Package) -> None:
    (shop.folder / "jobs.py").write_bytes(b"x = '\xff'\n")
    with pytest.raises(ScheduleError, match=r"^shop/jobs\.py cannot be read"):
        add_job(shop)


def test_a_file_with_a_null_byte_is_an_error_without_a_line(shop: Package) -> None:
    (shop.folder / "jobs.py").write_bytes(b"x = 1\n\0\n")
    with pytest.raises(ScheduleError, match=r"^shop/jobs\.py: this is not Python: .*null bytes"):
        add_job(shop)


def test_a_link_stays_and_a_file_keeps_its_mode(shop: Package, tmp_path: Path) -> None:
    real = tmp_path / "real.py"
    real.touch(0o640)
    (shop.folder / "jobs.py").symlink_to(real)
    write(add_job(shop))
    assert (shop.folder / "jobs.py").is_symlink()
    assert "def report(" in real.read_text()
    assert stat.S_IMODE(real.stat().st_mode) == 0o640


def test_nothing_is_written_where_a_file_was_changed_meanwhile(shop: Package) -> None:
    plan = add_event(shop)
    put(shop, "jobs", "mine = 1\n")
    with pytest.raises(ScheduleError, match=r"^shop/jobs\.py was changed meanwhile; call again$"):
        write(plan)
    assert sorted(os.listdir(shop.folder)) == ["__init__.py", "jobs.py"]
    assert (shop.folder / "jobs.py").read_text() == "mine = 1\n"


def test_a_change_is_shown_as_a_diff(shop: Package) -> None:
    put(shop, "events", "import os")
    event, job = add_event(shop).changes
    assert event.diff().startswith(
        "--- shop/events.py\n+++ shop/events.py\n@@ -1 +1,10 @@\n-import os\n\\ No newline at end of file\n+import os\n"
    )
    assert job.diff().startswith("--- /dev/null\n+++ shop/jobs.py\n@@ -0,0 +1,10 @@\n+")
