"""Which entries a module's code has, as far as that can be read without running it."""

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from celery_leased_beat.errors import DuplicateNameError, SpecError
from celery_leased_beat.generate.source import Module
from celery_leased_beat.generate.when import When

#: The methods that dispatch an event, with the name of their first argument; and those that need none.
_SPECS = {"cron": "spec", "every": "interval", "daily_at": "time_of_day"}
_FIXED = {"every_minute": "* * * * *", "hourly": "@hourly", "daily": "@daily"}


@dataclass(frozen=True, slots=True)
class Written:
    """One entry in the code: its ``name``, None where it is the event's, and the event's class, None for a job.

    ``cls`` empty and ``key`` None: not to be told.
    """

    name: str | None
    cls: str | None
    key: str | None
    line: int


def has_job(module: Module, job: str, when: When) -> bool:
    """Return whether ``module`` has that job. Raises ``DuplicateNameError`` where it is due at other times there."""
    return _has(module, job, None, when)


def has_event_entry(module: Module, cls: str, when: When) -> bool:
    """Return whether ``module`` has the entry of an event under the event's name. Raises as ``has_job`` does."""
    return _has(module, None, cls, when)


def check_entry_free(module: Module, name: str, events: Mapping[str, str]) -> None:
    """Raise ``DuplicateNameError`` where ``module`` has an entry of that name; ``events`` are its events by class."""
    for entry in _entries(module):
        if name == (entry.name or events.get(entry.cls or "")):
            raise DuplicateNameError(
                f"{module.path} has an entry {name!r} already, in line {entry.line}; take another name"
            )


def _has(module: Module, name: str | None, cls: str | None, when: When) -> bool:
    for entry in _entries(module):
        if (entry.name, entry.cls) == (name, cls):
            if entry.key == when.timing().key:
                return True
            raise DuplicateNameError(
                f"{module.path} has the entry of {name or cls} already, in line {entry.line}, and not with {when}; "
                "change it there"
            )
    return False


def calls(module: Module, method: str) -> Iterator[ast.Call]:
    """Yield each call of a method of that name, on whatever object."""
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == method:
            yield node


def text_of(node: ast.expr | None) -> str | None:
    """Return the text that an expression is, None of another one."""
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


def name_of(node: ast.expr | None) -> str | None:
    """Return the last part of a name: ``DigestDue`` of ``events.DigestDue``."""
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else None


def argument(call: ast.Call, position: int, name: str) -> ast.expr | None:
    """Return an argument by its position or its name."""
    if position < len(call.args):
        return call.args[position]
    return next((keyword.value for keyword in call.keywords if keyword.arg == name), None)


def _entries(module: Module) -> Iterator[Written]:
    for call in calls(module, "job"):
        job = text_of(argument(call, 0, "name"))
        if job is not None:
            yield Written(job, None, _key("cron", argument(call, 1, "spec")), call.lineno)
    for method, name in _SPECS.items():
        for call in calls(module, method):
            spec = argument(call, 0, name)
            yield from _event_entry(call, argument(call, 1, "event"), _key(method, spec))
    for method, fixed in _FIXED.items():
        for call in calls(module, method):
            yield from _event_entry(call, argument(call, 0, "event"), When("cron", fixed).timing().key)


def _event_entry(call: ast.Call, event: ast.expr | None, key: str | None) -> Iterator[Written]:
    """One with a name of its own is another entry than the event's; what is no text is not to be told."""
    cls, name = name_of(event.func) if isinstance(event, ast.Call) else None, argument(call, len(call.args), "name")
    if cls if name is None else text_of(name):
        yield Written(text_of(name), cls or "", key, call.lineno)


def _key(method: str, spec: ast.expr | None) -> str | None:
    text = text_of(spec)
    try:
        return None if text is None else When(method, text).timing().key
    except SpecError:
        return None
