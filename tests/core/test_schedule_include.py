"""Modules that compose: each registers itself once, with what it depends on."""

from types import ModuleType
from typing import Any

import pytest

from celery_leased_beat.errors import DuplicateNameError, ScheduleError
from celery_leased_beat.schedule import ScheduleBuilder
from tests.core.plugins import plain


class Deps:
    pass


def module(name: str = "shop.jobs", **attributes: Any) -> ModuleType:
    made = ModuleType(name)
    vars(made).update(attributes)
    return made


@pytest.mark.parametrize("one", [plain, "tests.core.plugins.plain"])
def test_a_module_or_its_dotted_name_is_included(one: Any) -> None:
    assert list(ScheduleBuilder().include(one).entries) == ["plain"]


def test_a_module_is_registered_once_however_it_is_named() -> None:
    schedule = ScheduleBuilder().include(plain).include("tests.core.plugins.plain").include(plain)
    assert list(schedule.entries) == ["plain"]


def test_each_schedule_registers_for_itself() -> None:
    assert list(ScheduleBuilder().include(plain).entries) == list(ScheduleBuilder().include(plain).entries)


def test_deps_are_handed_over() -> None:
    deps, got = Deps(), []
    ScheduleBuilder().include(module(register=lambda schedule, deps: got.append(deps)), deps)
    assert got == [deps]


def test_deps_that_can_be_called_are_called_then() -> None:
    deps, got = Deps(), []
    ScheduleBuilder().include(module(register=lambda schedule, deps: got.append(deps)), lambda: deps)
    assert got == [deps]


def test_deps_are_left_alone_where_nobody_wants_them() -> None:
    def deps() -> Deps:
        raise AssertionError("nobody wanted them")

    schedule = ScheduleBuilder()
    schedule.include(module(register=lambda schedule: schedule.job("a", "@daily", lambda: None)), deps)
    assert list(schedule.entries) == ["a"]


def test_deps_may_be_optional() -> None:
    got: list[Any] = []
    ScheduleBuilder().include(module(register=lambda schedule, deps=5: got.append(deps)))
    assert got == [5]


def test_a_module_may_include_others_and_itself() -> None:
    schedule = ScheduleBuilder()
    inner = module("inner", register=lambda schedule: schedule.job("inner", "@daily", lambda: None))
    outer = module("outer")
    vars(outer)["register"] = lambda schedule: schedule.include(outer).include(inner)
    assert list(schedule.include(outer).include(inner).entries) == ["inner"]


def test_a_module_that_failed_is_not_taken_for_included() -> None:
    schedule = ScheduleBuilder().job("plain", "@daily", lambda: None)
    for _ in range(2):
        with pytest.raises(DuplicateNameError):
            schedule.include(plain)


async def register_async(schedule: ScheduleBuilder) -> None: ...


@pytest.mark.parametrize(
    ("what", "message"),
    [
        (module(), "shop.jobs cannot be included, it has no register; write def register"),
        (module(register=5), "shop.jobs cannot be included, it has no register"),
        (module(register=lambda: None), "register cannot be called with the schedule; write def register"),
        (module(register=lambda a, b, c: None), "register cannot be called with the schedule"),
        (module(register=lambda schedule, *, deps: None), "register cannot be called with the schedule"),
        (module(register=register_async), "register cannot be called with the schedule"),
        (module(register=lambda schedule, deps: None), r"register wants deps; give them: include\(shop.jobs, deps\)"),
        (lambda schedule: None, "cannot be included; give a module or its full dotted name"),
        ("", "cannot be included; give a module"),
        (".jobs", "cannot be included; give a module or its full dotted name"),
        ("tests.core.plugins.absent", "No module named 'tests.core.plugins.absent'"),
        ("absent.jobs", "No module named 'absent'"),
    ],
)
def test_what_cannot_be_included_is_told(what: Any, message: str) -> None:
    with pytest.raises(ScheduleError, match=message):
        ScheduleBuilder().include(what)


def test_the_import_error_of_a_module_is_its_own() -> None:
    with pytest.raises(ModuleNotFoundError, match="a_module_that_is_not_there"):
        ScheduleBuilder().include("tests.core.plugins.imports_missing")
