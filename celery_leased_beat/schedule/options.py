"""Which option may stand where, and what becomes of it. Celery would swallow an unknown one; here it is an error."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import tzinfo
from difflib import get_close_matches
from typing import Any

from celery_leased_beat.errors import OptionError, SpecError
from celery_leased_beat.plan import Policy
from celery_leased_beat.schedule.checks import CHECKS
from celery_leased_beat.schedule.keywords import (
    EntryOptions,
    EventEntryOptions,
    JobOptions,
    ListenerOptions,
    MessageOptions,
    TaskOptions,
)

#: Celery retries a task after the soft limit only, so the hard one leaves it time to end.
_HARD_AFTER_SOFT = 30


@dataclass(frozen=True, slots=True)
class Place:
    """Where options are given: what is ``allowed`` there, and what to do with those that belong ``elsewhere``."""

    name: str
    allowed: frozenset[str]
    elsewhere: Mapping[str, str]


EVENT_ENTRY = Place(
    "an event entry",
    frozenset(EventEntryOptions.__annotations__),
    dict.fromkeys(TaskOptions.__annotations__, "belongs on the listener: @events.listener(..., {option}={value!r})"),
)
JOB = Place(
    "a job",
    frozenset(JobOptions.__annotations__),
    {"name": "is not needed: the first argument is the job's name and its entry's"},
)
TASK_JOB = Place(
    "a job whose handler is a Celery task",
    JOB.allowed - frozenset(TaskOptions.__annotations__),
    dict.fromkeys(TaskOptions.__annotations__, "belongs on the task itself: @app.task(...)"),
)
PERIODIC = Place("an entry of beat_schedule", frozenset({"catch_up", "grace"}), {})
LISTENER = Place(
    "a listener",
    frozenset(ListenerOptions.__annotations__),
    dict.fromkeys(EntryOptions.__annotations__, "belongs on the entry: schedule.cron(..., {option}={value!r})"),
)


@dataclass(frozen=True, slots=True)
class Options:
    """The options of one entry or listener, checked and sorted; those of the message are JSON-ready."""

    task: dict[str, Any]
    message: dict[str, Any]
    policy: Policy
    own_grace: bool
    timezone: tzinfo | None
    name: str | None


def read_options(place: Place, given: Mapping[str, Any]) -> Options:
    """Return the options ``given`` in ``place``. Raises ``OptionError``; ``SpecError`` for a zone."""
    values = {option: _checked(place, option, value) for option, value in given.items()}
    message = _picked(values, MessageOptions)
    if "expires" in message and message["expires"] <= message.get("countdown", 0):
        raise OptionError(f"expires={given['expires']!r} is over before countdown={given['countdown']!r} is")
    policy = {option: values[option] for option in ("catch_up", "grace") if option in values}
    return Options(
        task=_with_limits(_picked(values, TaskOptions)),
        message=message,
        policy=Policy(**policy),
        own_grace="grace" in policy,
        timezone=values.get("timezone"),
        name=values.get("name"),
    )


def _checked(place: Place, option: str, value: Any) -> Any:
    if option in place.elsewhere:
        hint = place.elsewhere[option].format(option=option, value=value)
        raise OptionError(f"{option!r} is no option of {place.name}; it {hint}")
    if option not in place.allowed:
        close = get_close_matches(option, place.allowed, n=1)
        hint = f", did you mean {close[0]!r}?" if close else ";"
        allowed = ", ".join(sorted(place.allowed))
        raise OptionError(f"{option}={value!r}: {place.name} has no such option{hint} allowed are {allowed}")
    try:
        return CHECKS[option](value)
    except SpecError:
        raise
    except ValueError as error:
        raise OptionError(f"{option}={value!r}: it has to be {error}") from None


def _picked(values: Mapping[str, Any], group: type[Any]) -> dict[str, Any]:
    return {option: values[option] for option in group.__annotations__ if option in values}


def _with_limits(task: dict[str, Any]) -> dict[str, Any]:
    """Put Celery's two limits in the place of ``timeout``."""
    timeout = task.pop("timeout", None)
    if timeout is not None:
        if "soft_time_limit" in task:
            raise OptionError("timeout and soft_time_limit are one and the same; give one of them")
        task = {"time_limit": timeout + _HARD_AFTER_SOFT, **task, "soft_time_limit": timeout}
    soft, hard = task.get("soft_time_limit"), task.get("time_limit")
    if soft is not None and hard is not None and soft >= hard:
        raise OptionError(f"the soft limit of {soft} s has to be shorter than the hard one, time_limit={hard}")
    return task
