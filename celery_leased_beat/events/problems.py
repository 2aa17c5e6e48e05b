"""What is wrong with a payload, told as path and problem: ``payload.lines[2].price: a number expected, not 'x'``."""

from collections.abc import Iterator

from cattrs.errors import (
    AttributeValidationNote,
    BaseValidationError,
    IterableValidationNote,
    StructureHandlerNotFoundError,
)

from celery_leased_beat.events.models import is_model_error, model_problems

#: How long a problem may be, and how many are told: an error should not carry a whole payload into the log.
_LONGEST = 200
_MOST = 10


class NotPlainError(ValueError):
    """A value that JSON cannot carry, with its path."""

    def __init__(self, path: str, problem: str) -> None:
        super().__init__(problem)
        self.path = path


def describe(error: Exception, path: str = "payload") -> str:
    """Return all problems in an error of cattrs, of pydantic or of a class itself, in one line."""
    problems = [f"{where}: {what}" for where, what in _problems(error, path)]
    more = [f"and {len(problems) - _MOST} more"] if len(problems) > _MOST else []
    return "; ".join(problems[:_MOST] + more)


def _problems(error: Exception, path: str) -> Iterator[tuple[str, str]]:
    if isinstance(error, BaseValidationError):
        for inner in error.exceptions:
            yield from _problems(inner, path + _step(inner))
    elif is_model_error(error):
        for step, problem in model_problems(error):
            yield path + step, _shortened(problem)
    elif isinstance(error, NotPlainError):
        yield error.path, _shortened(str(error))
    else:
        yield path, _shortened(_problem(error))


def _step(error: Exception) -> str:
    for note in getattr(error, "__notes__", ()):
        if isinstance(note, AttributeValidationNote):
            return f".{note.name}"
        if isinstance(note, IterableValidationNote):
            return f"[{note.index!r}]"
    return ""


def _problem(error: Exception) -> str:
    if isinstance(error, KeyError) and _step(error) == f".{error.args[0]}":
        return "is missing and has no default"
    if isinstance(error, StructureHandlerNotFoundError):
        return f"{error.type_!r} is no type that a payload can carry"
    if isinstance(error, ValueError):
        return str(error)
    return f"{type(error).__name__}: {error}"


def _shortened(problem: str) -> str:
    return problem if len(problem) <= _LONGEST else f"{problem[:_LONGEST]}..."
