"""What the generators of events and listeners write, and which names and specs they take."""

from textwrap import dedent

import pytest

from celery_leased_beat.errors import DuplicateNameError, ScheduleError, SpecError
from celery_leased_beat.generate import Import, read_when
from celery_leased_beat.generate.events import add_event, events_of
from celery_leased_beat.generate.listeners import add_listener
from celery_leased_beat.generate.names import check_function_name, class_name, full_name
from celery_leased_beat.generate.source import Module

DIGEST = Import("shop.events", "DigestDue")
EVENTS = Import("proj.celery", "events")


def text(expected: str) -> str:
    return dedent(expected).lstrip("\n")


def with_event(before: str) -> str:
    return add_event(Module("shop.events", "shop/events.py", before), "shop.digest_due", "DigestDue").text


def with_listener(before: str, name: str = "send_digest", events: Import = EVENTS) -> str:
    module = Module("shop.tasks", "shop/tasks.py", before, first_party=frozenset({"proj"}))
    return add_listener(module, DIGEST, events, name).text


def test_a_new_module_has_the_event() -> None:
    assert with_event('"""What can happen."""\n') == text('''
        """What can happen."""

        from dataclasses import dataclass

        from celery_leased_beat import event


        @event("shop.digest_due")
        @dataclass(frozen=True)
        class DigestDue:
            """Its fields are what the listeners get: data that JSON can carry."""
    ''')


def test_an_event_goes_to_the_end_of_what_is_there() -> None:
    before = text("""
        from celery_leased_beat import event as happening
        from dataclasses import dataclass, field


        @happening( "shop.other" )
        @dataclass
        class Other: pass
    """)
    assert with_event(before) == before + "\n\n" + text('''
        @happening("shop.digest_due")
        @dataclass(frozen=True)
        class DigestDue:
            """Its fields are what the listeners get: data that JSON can carry."""
    ''')


@pytest.mark.parametrize("decorator", ["event", "celery_leased_beat.event"])
def test_an_event_that_is_there_is_known_whatever_its_class_is_called(decorator: str) -> None:
    before = f'@{decorator}("shop.digest_due")\n@attrs.define\nclass Digest:\n    to: str\n'
    assert with_event(before) == before
    assert list(events_of(Module("shop.events", "", before))) == [("shop.digest_due", "Digest")]


def test_a_class_of_that_name_is_not_overwritten() -> None:
    with pytest.raises(DuplicateNameError, match=r"^shop/events\.py has a 'DigestDue' already, in line 3, and nothing"):
        with_event("import os\n\nclass DigestDue: ...\n")


def test_another_event_of_that_name_is_an_error() -> None:
    with pytest.raises(DuplicateNameError, match=r"^shop/events\.py has a 'event' of its own"):
        with_event("from sqlalchemy import event\n")


def test_a_new_module_has_the_listener() -> None:
    assert with_listener('"""What is done."""\n') == text('''
        """What is done."""

        import logging

        from proj.celery import events

        from .events import DigestDue


        @events.listener(DigestDue)
        def send_digest(event: DigestDue) -> None:
            """Do what follows from ``event``."""
            logging.getLogger(__name__).info("%r", event)
    ''')


def test_a_listener_goes_to_the_end_of_what_is_there() -> None:
    before = text("""
        import logging

        from celery import shared_task

        from proj.celery import events as bus
        from shop.events import DigestDue as Due, Other

        @shared_task
        def plain(): pass


        @bus.listener( Other )
        def other(event): pass
    """)
    assert with_listener(before) == before + "\n\n" + text('''
        @bus.listener(Due)
        def send_digest(event: Due) -> None:
            """Do what follows from ``event``."""
            logging.getLogger(__name__).info("%r", event)
    ''')


@pytest.mark.parametrize(
    "listener",
    [
        "@events.listener(DigestDue)\ndef send_digest(event, envelope): ...\n",
        "@shop.celery.events.listener(event=events.DigestDue, queue='mail')\ndef send_digest(event): ...\n",
        "@events.listener(DigestDue, name='send_digest')\ndef _send(event): ...\n",
    ],
)
def test_a_listener_that_is_there_is_known(listener: str) -> None:
    assert with_listener(listener) == listener


@pytest.mark.parametrize("taken", ["def send_digest(): ...", "@events.listener(Other)\ndef send_digest(event): ..."])
def test_a_function_of_that_name_is_not_overwritten(taken: str) -> None:
    with pytest.raises(
        DuplicateNameError, match=r"^shop/tasks\.py has a 'send_digest' already, in line \d, and nothing"
    ):
        with_listener(f"{taken}\n")


@pytest.mark.parametrize("name", ["events", "logging"])
def test_a_name_that_the_code_itself_needs_is_an_error(name: str) -> None:
    with pytest.raises(ScheduleError, match=f"^'{name}' is a name that the code itself needs"):
        with_listener("", name)


def test_events_in_the_module_itself_are_not_imported() -> None:
    before = "from proj import app\n\nevents = Events(app)\n"
    added = with_listener(before, events=Import("shop.tasks", "events"))
    assert added.startswith(
        "import logging\n\nfrom proj import app\n\nfrom .events import DigestDue\n\nevents = Events(app)\n"
    )
    assert "@events.listener(DigestDue)" in added


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("nightly-sales-report", "such as nightly_sales_report"),
        ("NightlySales", "such as nightly_sales"),
        ("shop.report", "such as shop_report"),
        ("2nd", "take small letters"),
        ("été", "take small letters"),
        ("", "take small letters"),
        ("_report", "such as report"),
        ("a" * 51, "too long"),
        ("print", "Python's own"),
        ("import", "Python's own"),
    ],
)
def test_a_name_that_cannot_be_a_functions_is_an_error_that_says_what_could(name: str, hint: str) -> None:
    with pytest.raises(ScheduleError, match=hint):
        check_function_name(name)


def test_a_class_is_called_as_its_event() -> None:
    assert class_name("digest_due") == "DigestDue"
    assert class_name("digest_2_due") == "Digest2Due"
    with pytest.raises(ScheduleError, match=r"^'TimeoutError' is a name of Python's own"):
        class_name("timeout_error")


def test_a_full_name_is_one_that_events_and_jobs_can_have() -> None:
    assert full_name("shop", "digest_due") == "shop.digest_due"
    with pytest.raises(ScheduleError, match=r"^'bücher\.digest_due': the names of jobs and events are"):
        full_name("bücher", "digest_due")


def test_at_most_one_spec_is_given() -> None:
    assert read_when(None, None, None) is None
    assert str(read_when(None, " 1h30m ", None)) == "every 1h30m"
    with pytest.raises(SpecError, match=r"give one of --cron, --every and --daily-at$"):
        read_when("@daily", "1h", None)


@pytest.mark.parametrize("given", [("0 25 * * *", None, None), (None, "soon", None), (None, None, "25:61")])
def test_a_spec_that_cannot_be_read_is_an_error(given: tuple[str | None, str | None, str | None]) -> None:
    with pytest.raises(SpecError):
        read_when(*given)
