"""What the logs tell: which messages a worker received, and what ended a process or met a replica unawares."""

import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime

from tests.chaos.evidence import Life

_RECEIVED = re.compile(r"Task \S+\[(\S+)\] received")
_SUCCEEDED = re.compile(r"Task \S+\[(\S+)\] succeeded")
_UNRECOVERABLE = re.compile(r"^\[(\S+ \S+),\d+: CRITICAL/MainProcess\] Unrecoverable error: (.*)$", re.MULTILINE)
_GIVEN_UP = re.compile(r"the fire of (\S+) at (\S+) is skipped: past its grace")
_SERVING = re.compile(r"^\[(\S+ \S+),(\d+): INFO/MainProcess\] beat: Starting", re.MULTILINE)
_NEXT_LINE = re.compile(r"^\[\d{4}-", re.MULTILINE)
_OUR_ERRORS = re.compile(r"^.*(?:Traceback|error of its own).*$", re.MULTILINE)

#: From its last line to its end a worker has so many seconds; its connection broke a few seconds before.
ENDING, BROKEN = 20.0, 15.0


def received(logs: str) -> frozenset[str]:
    """The ids of the tasks whose messages a worker has noted as its own."""
    return frozenset(_RECEIVED.findall(logs))


def succeeded(logs: str) -> frozenset[str]:
    """The ids of the tasks that came to a good end."""
    return frozenset(_SUCCEEDED.findall(logs))


def given_up(logs: str) -> frozenset[tuple[str, datetime]]:
    """The entries and instants of the fires that a replica was too late for."""
    return frozenset((entry, datetime.fromisoformat(instant)) for entry, instant in _GIVEN_UP.findall(logs))


def serving_since(life: Life, log: str) -> float | None:
    """When a replica began to serve, as the log of all lives of its name tells; None where it did not come so far."""
    times = (_time(found[1], found[2]) for found in _SERVING.finditer(log))
    return next((at for at in times if life.begun <= at <= life.ended), None)


def our_errors(logs: str) -> Iterator[str]:
    """The lines of a replica's log that no fault of a server may cause: an exception that we did not expect."""
    yield from _OUR_ERRORS.findall(logs)


def why_ended(life: Life, log: str, breaks: Iterable[tuple[float, str]]) -> str:
    """Say why a worker may have ended by itself: Celery's own code failed, and none of ours.

    Its broker went, or a process of its pool did as the worker was about to begin.
    """
    if life.kind != "worker":
        return ""
    for found in _UNRECOVERABLE.finditer(log):
        at = _time(found[1])
        traceback = log[found.end() : _next_line(log, found.end())]
        harmed = [*life.killed.values(), *(when for when, name in breaks if name == life.name)]
        is_its_end = life.ended - ENDING <= at <= life.ended and "celery_leased_beat" not in traceback
        if is_its_end and any(at - BROKEN <= when <= at + 1 for when in harmed):
            return f"Celery's worker ends as its broker or its pool goes ({found[2]})"
    return ""


def _time(seconds: str, milliseconds: str = "0") -> float:
    return datetime.fromisoformat(seconds).replace(tzinfo=UTC).timestamp() + int(milliseconds) / 1000


def _next_line(log: str, since: int) -> int:
    found: Sequence[re.Match[str]] = list(_NEXT_LINE.finditer(log, since))[:1]
    return found[0].start() if found else len(log)
