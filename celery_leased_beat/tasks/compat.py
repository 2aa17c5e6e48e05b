"""What differs between the versions of Celery."""

from typing import TYPE_CHECKING, Any

from celery.app.task import Task

if TYPE_CHECKING:
    AnyTask = Task[..., Any]
else:  # in older ones it is generic for type checkers alone
    AnyTask = Task
