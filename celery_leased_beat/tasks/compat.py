"""What differs between the versions of Celery."""

from typing import TYPE_CHECKING, Any

from celery import Celery
from celery.app.task import Task

if TYPE_CHECKING:
    AnyTask = Task[..., Any]
    #: An app, whatever its task class: for type checkers an app of one class is none of another.
    AnyApp = Celery[Any]
else:  # in older ones they are generic for type checkers alone
    AnyTask = Task
    AnyApp = Celery
