"""Handlers: what can be one, and which of them is handed the fire or the envelope."""

from __future__ import annotations

from functools import partial, wraps
from typing import TYPE_CHECKING, Any

import pytest

from celery_leased_beat.errors import ScheduleError
from celery_leased_beat.events import Envelope
from celery_leased_beat.fires import Fire
from celery_leased_beat.schedule.handlers import check_handler, handler_name, takes_context

if TYPE_CHECKING:
    # Names that are not there when the handler is looked at.
    from decimal import Decimal as Deps
    from uuid import UUID as Placed


def nothing() -> None: ...


def required(fire) -> None: ...  # type: ignore[no-untyped-def]


def annotated(fire: Fire | None = None) -> None: ...


def optional_of_another_kind(month: int = 0) -> None: ...


def unevaluable(deps: Deps | None = None, *, more: Deps | None = None) -> None: ...


def unevaluable_fire(fire: Fire | None = None, *, more: Deps | None = None) -> None: ...


def anything(*args: Any, **kwargs: Any) -> None: ...


class Reports:
    def __call__(self) -> None: ...

    def build(self, fire: Fire) -> None: ...


def decorated(function: Any) -> Any:
    @wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        return function(*args, **kwargs)

    return wrapper


@pytest.mark.parametrize(
    ("handler", "taken"),
    [
        (nothing, False),
        (required, True),
        (annotated, True),
        (optional_of_another_kind, False),
        (unevaluable, False),
        (unevaluable_fire, True),
        (anything, False),
        (Reports(), False),
        (Reports().build, True),
        (decorated(nothing), False),
        (decorated(required), True),
        (lambda: None, False),
        (lambda fire: None, True),
        (lambda fire, /: None, True),
        (lambda fire=None: None, False),
        (partial(required, 5), False),
        (partial(lambda a, fire: None, 5), True),
        (partial(lambda a, fire: None, fire=5), True),
        (print, False),
        ({"a": 1}.update, False),
    ],
)
def test_a_job_is_handed_its_fire_where_it_asks_for_it(handler: Any, taken: bool) -> None:
    assert takes_context(handler, Fire, 0) is taken


def event_alone(event: Placed) -> None: ...


def event_and_option(event: Placed, deps: Deps | None = None) -> None: ...


def event_and_envelope(event: Placed, envelope: Envelope) -> None: ...


def event_and_optional_envelope(event: Placed, envelope: Envelope | None = None) -> None: ...


def event_and_required(event, envelope) -> None: ...  # type: ignore[no-untyped-def]


@pytest.mark.parametrize(
    ("handler", "taken"),
    [
        (event_alone, False),
        (event_and_option, False),
        (event_and_envelope, True),
        (event_and_optional_envelope, True),
        (event_and_required, True),
        (anything, False),
        (lambda event=None: None, False),
        ([].append, False),
    ],
)
def test_a_listener_is_handed_the_envelope_where_it_asks_for_it(handler: Any, taken: bool) -> None:
    assert takes_context(handler, Envelope, 1) is taken


def keyword_fire(*, fire: Fire) -> None: ...


def second_fire(month: int = 0, fire: Fire | None = None) -> None: ...


def required_keyword(*, deps: object) -> None: ...


def envelope_first(envelope: Envelope) -> None: ...


@pytest.mark.parametrize(
    ("handler", "context", "position", "message"),
    [
        (keyword_fire, Fire, 0, "at most one Fire, as its positional argument 1; 'fire' is another"),
        (second_fire, Fire, 0, "positional argument 1; 'fire' is another"),
        (required_keyword, Fire, 0, "'deps' needs a default"),
        (lambda fire, more: None, Fire, 0, "called with at most one Fire, so 'more' needs a default"),
        (nothing, Envelope, 1, "called with the event and at most one Envelope, but it takes no argument"),
        (envelope_first, Envelope, 1, "positional argument 2; 'envelope' is another"),
        (lambda a, b, c: None, Envelope, 1, "'c' needs a default"),
    ],
)
def test_a_handler_that_could_not_be_called_is_told(handler: Any, context: type, position: int, message: str) -> None:
    with pytest.raises(ScheduleError, match=message):
        takes_context(handler, context, position)


async def coroutine() -> None: ...


async def async_generator() -> Any:
    yield


def generator() -> Any:
    yield


class AsyncReports:
    async def __call__(self) -> None: ...


@pytest.mark.parametrize(
    ("handler", "message"),
    [
        (None, "the handler None cannot be called"),
        ("shop.tasks.report", "'shop.tasks.report' cannot be called"),
        (Reports, r"Reports is a class; give an object of it, Reports\(...\)"),
        (coroutine, "is async, and a Celery worker would not await it"),
        (partial(coroutine), "is async"),
        (AsyncReports(), "is async"),
        (async_generator, "is async"),
        (generator, "has a yield, so calling it would not run its body"),
    ],
)
def test_what_is_no_handler_is_told(handler: Any, message: str) -> None:
    with pytest.raises(ScheduleError, match=message):
        check_handler(handler)


@pytest.mark.parametrize(
    ("handler", "name"),
    [
        (nothing, "nothing"),
        (Reports().build, "build"),
        (partial(partial(required, 1)), "required"),
        (decorated(nothing), "nothing"),
        (lambda: None, "<lambda>"),
        (Reports(), None),
    ],
)
def test_a_handler_has_the_name_of_its_function(handler: Any, name: str | None) -> None:
    assert handler_name(handler) == name
