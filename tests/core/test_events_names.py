"""Names: which classes are events, and what their tasks are called."""

from dataclasses import dataclass

import attrs
import pydantic
import pytest

from celery_leased_beat.errors import EventError
from celery_leased_beat.events import (
    dispatch_task,
    event,
    event_name,
    is_name,
    is_our_task,
    job_task,
    listener_task,
    trigger_task,
)


@event("shop.digest_due")
@dataclass(frozen=True)
class DigestDue:
    audience: str = "all"


@event("shop.slotted")
@dataclass(frozen=True, slots=True)
class Slotted:
    pass


@event("shop.defined")
@attrs.define
class Defined:
    pass


@event("shop.modelled")
class Modelled(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(frozen=True)


@pytest.mark.parametrize(
    ("cls", "name"),
    [
        (DigestDue, "shop.digest_due"),
        (Slotted, "shop.slotted"),
        (Defined, "shop.defined"),
        (Modelled, "shop.modelled"),
    ],
)
def test_a_class_and_its_instances_have_the_event_name(cls: type, name: str) -> None:
    assert event_name(cls) == name
    assert event_name(cls()) == name


@pytest.mark.parametrize("base", [DigestDue, Defined, Modelled])
def test_a_subclass_does_not_inherit_the_name_by_accident(base: type) -> None:
    class Child(base):  # type: ignore[misc]
        pass

    with pytest.raises(EventError, match=r'Child is not an event: put @event\("a.name"\)'):
        event_name(Child)


def test_a_subclass_may_be_named_itself() -> None:
    @event("shop.digest_due.vip")
    @dataclass(frozen=True)
    class VipDigestDue(DigestDue):
        pass

    assert event_name(VipDigestDue) == "shop.digest_due.vip"
    assert event_name(DigestDue) == "shop.digest_due"


@pytest.mark.parametrize("name", ["", "a b", "a:b", "é", "a\n", "a/b", None, 5])
def test_a_name_of_other_characters_is_refused(name: object) -> None:
    assert not is_name(name)
    with pytest.raises(EventError, match="letters, digits"):
        event(name)  # type: ignore[arg-type]


def test_forgetting_the_name_is_told() -> None:
    with pytest.raises(EventError, match=r"@event\(DigestDue\)"):
        event(DigestDue)  # type: ignore[arg-type]


def test_the_decorators_in_the_wrong_order_are_told() -> None:
    with pytest.raises(EventError, match="@event stands above @dataclass"):

        @dataclass
        @event("shop.upside_down")
        class UpsideDown:
            audience: str = "all"


def test_a_function_is_no_event() -> None:
    with pytest.raises(EventError, match="names a class"):
        event("shop.function")(lambda: None)  # type: ignore[type-var]


def test_a_class_has_one_name() -> None:
    with pytest.raises(EventError, match=r'already is the event "shop\.digest_due"'):
        event("shop.other")(DigestDue)


def test_tasks_are_named_by_their_kind() -> None:
    names = [trigger_task("a.b"), dispatch_task("a.b"), listener_task("a.b", "c"), job_task("a.b")]
    assert names == ["schedule:a.b", "event:a.b", "listener:a.b:c", "job:a.b"]
    assert all(map(is_our_task, names))
    assert not is_our_task("shop.tasks.report")
