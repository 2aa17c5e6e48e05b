"""What happens in the background: the Celery app, as Flask's documentation has it, its schedule and its listeners."""

from typing import Any

from celery import Celery, Task
from flask import Flask

from celery_leased_beat import Events, Schedule

events = Events()
schedule = Schedule()


def init_app(app: Flask) -> None:
    """Make the Celery app of ``app``; the listeners and jobs run in the app's context, as all its tasks."""

    class FlaskTask(Task):
        def __call__(self, *args: Any, **kwargs: Any) -> Any:
            with app.app_context():
                return self.run(*args, **kwargs)

    celery: Celery = Celery(app.name, task_cls=FlaskTask)
    celery.config_from_object(app.config["CELERY"])
    celery.set_default()
    events.init_app(celery)
    schedule.init_app(celery)
    app.extensions["celery"] = celery
