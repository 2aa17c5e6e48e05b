"""Options: each has its place, its type and its range, and a wrong one is told with what is allowed."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from celery_leased_beat.errors import EventError, OptionError, ScheduleError
from celery_leased_beat.events import Envelope, event
from celery_leased_beat.schedule import build_listener, listener_options
from celery_leased_beat.schedule.checks import CHECKS
from celery_leased_beat.schedule.options import EVENT_ENTRY, JOB, LISTENER, TASK_JOB, read_options


@event("shop.placed")
@dataclass(frozen=True)
class Placed:
    pass


def send(event: Placed) -> None:
    """A listener of the event alone."""


@pytest.mark.parametrize("place", [EVENT_ENTRY, JOB, TASK_JOB, LISTENER])
def test_every_option_that_stands_somewhere_has_a_check(place: Any) -> None:
    assert place.allowed <= set(CHECKS)
    assert not place.allowed & set(place.elsewhere)


@pytest.mark.parametrize(
    ("option", "value", "kept"),
    [
        ("queue", "mail", "mail"),
        ("priority", 0, 0),
        ("priority", 255, 255),
        ("headers", {"a": (1, 2)}, {"a": [1, 2]}),
        ("expires", 30, 30),
        ("expires", timedelta(milliseconds=1500), 1.5),
        ("countdown", 0, 0),
        ("countdown", timedelta(minutes=1), 60),
    ],
)
def test_an_option_of_the_message_is_kept_ready_for_json(option: str, value: Any, kept: Any) -> None:
    assert read_options(JOB, {option: value}).message == {option: kept}


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ({}, {}),
        ({"max_retries": 0}, {"max_retries": 0}),
        ({"acks_late": False, "reject_on_worker_lost": False}, {"acks_late": False, "reject_on_worker_lost": False}),
        ({"timeout": timedelta(minutes=10)}, {"soft_time_limit": 600, "time_limit": 630}),
        ({"timeout": 0.5}, {"soft_time_limit": 0.5, "time_limit": 30.5}),
        ({"timeout": 10, "time_limit": 12}, {"soft_time_limit": 10, "time_limit": 12}),
        ({"soft_time_limit": 10}, {"soft_time_limit": 10}),
        ({"time_limit": timedelta(seconds=10)}, {"time_limit": 10}),
    ],
)
def test_options_of_the_task_are_kept_and_a_timeout_becomes_two_limits(
    given: dict[str, Any], kept: dict[str, Any]
) -> None:
    assert read_options(JOB, given).task == kept


@pytest.mark.parametrize(
    ("option", "values", "allowed"),
    [
        ("queue", ["", None, 5, object()], "a text that is not empty"),
        ("routing_key", ["", 5], "a text that is not empty"),
        ("exchange", ["", 5], "a text that is not empty"),
        ("priority", [-1, 256, 1.5, "3", True, None], "a whole number from 0 to 255"),
        ("headers", [None, [], {1: 2}, {"a": object()}, {"a": float("nan")}], "a dict of names and values"),
        ("headers", [{"leased_beat": {}}], "other headers than 'leased_beat'"),
        ("expires", [0, -1, timedelta(0), "30s", True, None, float("inf"), 1e300], "a number of seconds above zero"),
        ("expires", [datetime(2026, 1, 1, tzinfo=UTC)], "a number of seconds above zero"),
        ("countdown", [-1, timedelta(-1), "30s", True, None, 10**400], "a number of seconds, not negative"),
        ("max_retries", [-1, 1.5, "3", True, None], "a whole number from 0"),
        ("acks_late", [1, 0, "yes", None], "True or False"),
        ("reject_on_worker_lost", [1, None], "True or False"),
        ("timeout", [0, -1, "10m", None, True], "a number of seconds above zero"),
        ("soft_time_limit", [0, "10m"], "a number of seconds above zero"),
        ("time_limit", [0, "10m"], "a number of seconds above zero"),
        ("grace", [-1, timedelta(-1), "5m", True], "a number of seconds, not negative"),
    ],
)
def test_a_value_of_a_wrong_type_or_range_is_told(option: str, values: list[Any], allowed: str) -> None:
    for value in values:
        with pytest.raises(OptionError) as raised:
            read_options(JOB, {option: value})
        assert str(raised.value).startswith(f"{option}={value!r}: it has to be ")
        assert allowed in str(raised.value)


@pytest.mark.parametrize("value", ["last", None, 5, []])
def test_an_unknown_catch_up_is_told(value: Any) -> None:
    with pytest.raises(OptionError, match=r"catch_up=.*latest, all, skip"):
        read_options(JOB, {"catch_up": value})


def test_no_grace_means_however_late() -> None:
    assert read_options(JOB, {"grace": None}).policy.grace is None


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"timeout": 5, "soft_time_limit": 5}, "one and the same"),
        ({"timeout": 10, "time_limit": 10}, "the soft limit of 10 s has to be shorter than the hard one"),
        ({"soft_time_limit": 10, "time_limit": 5}, "the soft limit of 10 s"),
        ({"expires": 10, "countdown": 10}, "expires=10 is over before countdown=10 is"),
    ],
)
def test_options_that_contradict_each_other_are_told(given: dict[str, Any], message: str) -> None:
    with pytest.raises(OptionError, match=message):
        read_options(JOB, given)


@pytest.mark.parametrize(
    ("place", "option", "hint"),
    [
        (EVENT_ENTRY, "acks_late", "belongs on the listener"),
        (LISTENER, "timezone", "belongs on the entry"),
        (LISTENER, "catch_up", "belongs on the entry"),
        (TASK_JOB, "timeout", "belongs on the task itself"),
        (JOB, "name", "the first argument is the job's name"),
    ],
)
def test_an_option_in_a_wrong_place_is_told_its_right_one(place: Any, option: str, hint: str) -> None:
    with pytest.raises(OptionError, match=f"{option!r} is no option of {place.name}; it .*{hint}"):
        read_options(place, {option: 5})


def listener(handler: Any, **given: Any) -> Any:
    return build_listener(Placed, handler, listener_options(Placed, given))


def test_a_listener_is_named_after_its_function() -> None:
    made = listener(send, queue="mail", max_retries=5)
    assert (made.name, made.task) == ("send", "listener:shop.placed:send")
    assert made.task_options == {"max_retries": 5}
    assert made.message_options == {"queue": "mail"}
    assert listener(send, name="send-again").name == "send-again"


def takes_envelope(event: Placed, envelope: Envelope) -> None: ...


def test_a_listener_may_take_the_envelope() -> None:
    assert listener(takes_envelope).handler is takes_envelope


@pytest.mark.parametrize(
    ("handler", "given", "error", "message"),
    [
        (lambda event: None, {}, ScheduleError, 'has no name to be known by; give it one: name="..."'),
        (send, {"name": "a:b"}, ScheduleError, "name='a:b': the name of a listener is letters"),
        (send, {"name": ""}, OptionError, "name='': it has to be a text"),
        (lambda: None, {"name": "a"}, ScheduleError, "but it takes no argument"),
        (lambda a, b, c: None, {"name": "a"}, ScheduleError, "so 'c' needs a default"),
        (send, {"grace": 5}, OptionError, "belongs on the entry"),
        (send, {"queu": "x"}, OptionError, "did you mean 'queue'"),
    ],
)
def test_a_mistake_in_a_listener_is_told(handler: Any, given: dict[str, Any], error: type, message: str) -> None:
    with pytest.raises(error, match=message):
        listener(handler, **given)


@pytest.mark.parametrize(
    ("event_class", "message"),
    [(Placed(), "listens to a class"), ("shop.placed", "listens to a class"), (int, "int is not an event")],
)
def test_a_listener_listens_to_the_class_of_an_event(event_class: Any, message: str) -> None:
    with pytest.raises(EventError, match=message):
        listener_options(event_class, {})
