"""What the generators of jobs and entries write, character by character."""

from textwrap import dedent

import pytest

from celery_leased_beat.errors import DuplicateNameError, ScheduleError
from celery_leased_beat.generate import Import, When
from celery_leased_beat.generate.jobs import add_event_entry, add_inclusion, add_job
from celery_leased_beat.generate.source import Module

NIGHTLY = When("cron", "0 3 * * *")
MORNING = When("daily_at", "06:30")
DIGEST = Import("shop.events", "DigestDue")


def module(text: str, name: str = "shop.jobs", *, package: bool = False) -> Module:
    return Module(name, f"{name.replace('.', '/')}.py", dedent(text).lstrip("\n"), package=package)


def with_job(text: str, name: str = "report", when: When = NIGHTLY) -> str:
    return add_job(module(text), f"shop.{name}", name, when).text


def with_entry(text: str, when: When = MORNING) -> str:
    return add_event_entry(module(text), DIGEST, when).text


def text(expected: str) -> str:
    return dedent(expected).lstrip("\n")


def test_a_new_module_has_the_job_and_its_handler() -> None:
    assert with_job('"""When shop does what."""\n') == text('''
        """When shop does what."""

        import logging

        from celery_leased_beat import Fire, Schedule


        def report(fire: Fire) -> None:
            """Do what is due at ``fire.instant``."""
            logging.getLogger(__name__).info("%s is due at %s", fire.entry, fire.instant)


        def register(schedule: Schedule) -> None:
            """Add what this package does to the schedule."""
            schedule.job("shop.report", "0 3 * * *", report)
    ''')


def test_a_module_that_is_there_is_extended() -> None:
    before = '''
        #!/usr/bin/env python
        """When the shop does what."""
        from datetime import timedelta
        from  celery_leased_beat  import (Schedule,)   # spaces as they are
        from shop.events import SyncInventory

        LIMIT = {1:2}


        # All of it,
        # here.
        @traced
        def register( schedule: Schedule, deps: object ) -> None:
            schedule.every( timedelta(seconds = 3), SyncInventory() )  # often
            # and that is all

        if __name__ == "__main__": print( "nothing" )
    '''
    assert with_job(before) == text('''
        #!/usr/bin/env python
        """When the shop does what."""
        import logging
        from datetime import timedelta
        from  celery_leased_beat  import (Fire, Schedule,)   # spaces as they are
        from shop.events import SyncInventory

        LIMIT = {1:2}


        def report(fire: Fire) -> None:
            """Do what is due at ``fire.instant``."""
            logging.getLogger(__name__).info("%s is due at %s", fire.entry, fire.instant)


        # All of it,
        # here.
        @traced
        def register( schedule: Schedule, deps: object ) -> None:
            schedule.every( timedelta(seconds = 3), SyncInventory() )  # often
            # and that is all
            schedule.job("shop.report", "0 3 * * *", report)

        if __name__ == "__main__": print( "nothing" )
    ''')


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("def register(s): ...\n", "def register(s):\n    s.daily_at({})\n"),
        ("def register(s): pass  # later\n", "def register(s):\n    s.daily_at({})  # later\n"),
        ("def register(s):\n  pass\n", "def register(s):\n  s.daily_at({})\n"),
        ('def register(s):\n    """All."""\n    ...\n', 'def register(s):\n    """All."""\n    s.daily_at({})\n'),
        ('def register(s):\n    """All."""\n', 'def register(s):\n    """All."""\n    s.daily_at({})\n'),
        ("def register(s, /, d): a(); b()\n", "def register(s, /, d):\n    a(); b()\n    s.daily_at({})\n"),
        ("def register(s): return a()\n", "def register(s):\n    s.daily_at({})\n    return a()\n"),
        (
            "def register(s):\n    a()\n\n    return b\n",
            "def register(s):\n    a()\n    s.daily_at({})\n\n    return b\n",
        ),
        ("def register(s):\n    a(); return b\n", "def register(s):\n    a(); s.daily_at({}); return b\n"),
        ("def register(s):\n    if a: return\n", "def register(s):\n    if a: return\n    s.daily_at({})\n"),
        (
            "def register(s):\n    for a in b:\n        c()\n        # d\n    # e\n\n    # f\n",
            "def register(s):\n    for a in b:\n        c()\n        # d\n    # e\n    s.daily_at({})\n\n    # f\n",
        ),
        (
            "def register(s):\n    @d\n    def a():\n        pass\n",
            "def register(s):\n    @d\n    def a():\n        pass\n\n    s.daily_at({})\n",
        ),
        ("def register(s):\n\ta(é='é')\n", "def register(s):\n\ta(é='é')\n\ts.daily_at({})\n"),
        (
            "def register(s):\n    a(\n        b)\ndef c(): ...\n",
            "def register(s):\n    a(\n        b)\n    s.daily_at({})\ndef c(): ...\n",
        ),
    ],
)
def test_register_may_be_written_in_many_ways(before: str, after: str) -> None:
    imports = "from .events import DigestDue\n\n\n"
    assert with_entry(imports + before) == imports + after.format('"06:30", DigestDue()')


def test_a_call_that_is_long_has_a_line_for_each_argument() -> None:
    name = "a_report_of_all_that_was_sold_by_night"
    added = with_job("def register(schedule):\n    pass\n", name)
    assert added.endswith(f'    schedule.job(\n        "shop.{name}",\n        "0 3 * * *",\n        {name},\n    )\n')


def test_a_module_with_the_schedule_at_its_top_goes_on_in_its_manner() -> None:
    before = """
        from flask_shop.background import schedule

        schedule.every("5s", Sync())
    """
    job = with_job(before)
    assert job == text('''
        import logging

        from celery_leased_beat import Fire
        from flask_shop.background import schedule

        schedule.every("5s", Sync())


        @schedule.job("shop.report", "0 3 * * *")
        def report(fire: Fire) -> None:
            """Do what is due at ``fire.instant``."""
            logging.getLogger(__name__).info("%s is due at %s", fire.entry, fire.instant)
    ''')
    assert with_entry(job) == job.replace(
        "flask_shop.background import schedule\n",
        "flask_shop.background import schedule\n\nfrom .events import DigestDue\n",
    ) + ('\n\nschedule.daily_at("06:30", DigestDue())\n')


def test_celerys_own_schedule_is_not_taken_for_one() -> None:
    assert "def register(schedule: Schedule)" in with_job("from celery.schedules import schedule\n")


@pytest.mark.parametrize(
    ("when", "spec"),
    [
        (When("cron", " @daily "), "@daily"),
        (When("cron", "@every 90s"), "@every 90s"),
        (When("every", "1h30m"), "@every 1h30m"),
        (When("daily_at", "6:30"), "30 6 * * *"),
        (When("every", "5000µs"), r"@every 5000\u00b5s"),
    ],
)
def test_a_job_takes_each_kind_of_spec(when: When, spec: str) -> None:
    job = with_job("", when=when)
    assert f'schedule.job("shop.report", "{spec}", report)' in job
    assert with_job(job, when=when) == job


@pytest.mark.parametrize(
    "call",
    [
        'schedule.cron("30 6 * * *", DigestDue())',
        'schedule.daily_at("6:30", DigestDue("vip"), grace=5)',
        'schedule.every("5s", DigestDue(), name="often").daily_at(time_of_day="06:30", event=DigestDue())',
    ],
)
def test_an_entry_that_is_there_in_another_form_is_known(call: str) -> None:
    before = f"from shop.events import DigestDue\n\n\ndef register(schedule):\n    {call}\n"
    assert with_entry(before) == before


def test_an_event_under_the_name_of_its_module_is_known() -> None:
    before = 'from . import events\n\n\ndef register(s):\n    s.daily_at("06:30", events.DigestDue())\n'
    assert with_entry(before) == before


def test_an_entry_with_a_name_of_its_own_is_another() -> None:
    before = 'from .events import DigestDue\n\n\ndef register(s):\n    s.daily_at("06:30", DigestDue(), name="mine")\n'
    assert with_entry(before) == f'{before}    s.daily_at("06:30", DigestDue())\n'


@pytest.mark.parametrize("other", ['daily_at("07:30", {})', "every(timedelta(seconds=3), {})", "hourly({})"])
def test_an_entry_that_is_due_at_other_times_is_an_error(other: str) -> None:
    before = f"from .events import DigestDue\n\n\ndef register(s):\n    s.{other.format('DigestDue()')}\n"
    with pytest.raises(DuplicateNameError, match=r"^shop/jobs\.py has the entry of DigestDue already, in line 5, and"):
        with_entry(before)


def test_a_job_that_is_due_at_other_times_is_an_error() -> None:
    with pytest.raises(DuplicateNameError, match="and not with every 1h; change it there"):
        with_job(with_job(""), when=When("every", "1h"))


@pytest.mark.parametrize(
    ("taken", "line"),
    [
        ("def report(): ...", 1),
        ("report = 5", 1),
        ("from shop import report", 1),
        ("import report.daily", 1),
        ("try:\n    pass\nexcept ValueError:\n    (report := 5)", 4),
        ("for report, other in []: ...", 1),
    ],
)
def test_a_name_that_is_taken_is_not_overwritten(taken: str, line: int) -> None:
    with pytest.raises(DuplicateNameError, match=r"^shop/jobs\.py has a 'report' already"):
        with_job(f"{taken}\n")


@pytest.mark.parametrize("register", ["def register(s, report): ...", "def register(s):\n    report = s\n"])
def test_a_name_that_means_something_else_in_register_is_an_error(register: str) -> None:
    with pytest.raises(ScheduleError, match=r"^register in shop/jobs\.py has a 'report' of its own"):
        with_job(register)


@pytest.mark.parametrize("name", ["register", "schedule", "logging"])
def test_names_that_the_code_itself_needs_are_an_error(name: str) -> None:
    with pytest.raises(ScheduleError, match=f"'{name}'"):
        with_job("", name)


@pytest.mark.parametrize("taken", ["Fire = 1", "from other import Fire", "class Schedule: ..."])
def test_a_name_that_has_to_be_imported_and_is_another_thing_is_an_error(taken: str) -> None:
    with pytest.raises(DuplicateNameError, match=r"rename one of the two$"):
        with_job(f"{taken}\n")


@pytest.mark.parametrize(
    "register",
    [
        "register = print",
        "from x import register",
        "async def register(s): ...",
        "def register(): ...",
        "class register: ...",
    ],
)
def test_a_register_that_is_no_plain_function_is_an_error(register: str) -> None:
    with pytest.raises(ScheduleError, match=r"^shop/jobs\.py, line 1: register is no plain function"):
        with_job(f"{register}\n")


@pytest.mark.parametrize("text", ["def register(:\n", "x = 1\n  y = 2\n", "\0"])
def test_what_is_not_python_is_an_error(text: str) -> None:
    with pytest.raises(ScheduleError, match=r"^shop/jobs\.py.*: this is not Python"):
        with_job(text)


def test_a_package_includes_its_modules() -> None:
    package = module('"""Jobs."""\n', package=True)
    one = add_inclusion(package, "reports")
    assert one.text == text('''
        """Jobs."""

        from celery_leased_beat import Schedule

        from . import reports


        def register(schedule: Schedule) -> None:
            """Add what this package does to the schedule."""
            schedule.include(reports)
    ''')
    assert add_inclusion(one, "reports") is one
    assert "from . import digests, reports\n" in add_inclusion(one, "digests").text
    assert add_inclusion(one, "digests").text.endswith("schedule.include(reports)\n    schedule.include(digests)\n")


@pytest.mark.parametrize("argument", ["reports, deps", '"shop.jobs.reports"', "jobs.reports"])
def test_a_module_that_is_included_in_another_form_is_known(argument: str) -> None:
    package = module(f"def register(schedule, deps):\n    schedule.include({argument})\n", package=True)
    assert add_inclusion(package, "reports") is package
