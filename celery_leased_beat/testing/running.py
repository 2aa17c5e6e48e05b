"""Running tasks in this process, one after the other, as messages come out of a queue."""

from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from celery.exceptions import Retry
from kombu import serialization

from celery_leased_beat.events import is_our_task
from celery_leased_beat.tasks.compat import AnyTask


class Queue:
    """What is to run. As with a broker, what a handler sends is taken up after that handler has ended."""

    def __init__(self) -> None:
        self._waiting: deque[Callable[[], None]] = deque()
        self._at_work = False

    def put(self, work: Callable[[], None]) -> None:
        """Add ``work`` at the end."""
        self._waiting.append(work)

    def run(self) -> list[Exception]:
        """Run all of it and return what was raised. Out of running work it leaves the rest to the run at work."""
        errors: list[Exception] = []
        if self._at_work:
            return errors
        self._at_work = True
        try:
            while self._waiting:
                try:
                    self._waiting.popleft()()
                except Exception as error:
                    errors.append(error)
        finally:
            self._at_work = False
            self._waiting.clear()
        return errors


def raise_all(errors: Sequence[Exception]) -> None:
    """Raise one error as it is, and several as a group."""
    if len(errors) == 1:
        raise errors[0]
    if errors:
        raise ExceptionGroup(f"{len(errors)} handlers failed", errors)


def run_in_place(
    task: AnyTask, args: Sequence[Any], kwargs: Mapping[str, Any], *, task_id: str, headers: Mapping[str, Any]
) -> None:
    """Run ``task`` once, with arguments that went through its serializer. What it raises is raised, not retried."""
    serializer = "json" if is_our_task(task.name) else task.serializer
    content_type, encoding, data = serialization.dumps((list(args), dict(kwargs)), serializer=serializer)
    positional, named = serialization.loads(data, content_type, encoding, accept=[content_type])
    with _without_retries(task):
        task.apply(tuple(positional), named, task_id=task_id, headers=dict(headers), throw=True)


@contextmanager
def _without_retries(task: AnyTask) -> Iterator[None]:
    """Let ``task.retry()`` raise its reason, as Celery does in a task that is called as a function.

    Celery would run the retries of a task in place at once, each inside the one before.
    """

    def retry(
        args: Any = None, kwargs: Any = None, exc: Exception | None = None, throw: bool = True, **options: Any
    ) -> Exception:  # fmt: skip
        reason = exc or Retry("the task asked for a retry")
        if throw:
            raise reason
        return reason

    task.retry = retry  # type: ignore[method-assign, assignment]
    try:
        yield
    finally:
        del task.retry
