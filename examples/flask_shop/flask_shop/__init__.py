"""A shop: the factory of its app.

Each part of the configuration may come from the environment, as Flask has it: ``FLASK_CELERY__broker_url``.
"""

from flask import Flask

from flask_shop import background, database, jobs, listeners, views

__all__ = ["create_app", "jobs", "listeners"]


def create_app() -> Flask:
    app = Flask(__name__)
    app.config.from_mapping(
        DATABASE="shop.sqlite3",
        CELERY={
            "broker_url": "redis://localhost:6379/0",
            "broker_connection_retry_on_startup": True,
            "task_ignore_result": True,
            "timezone": "Europe/Budapest",
            "beat_scheduler": "celery_leased_beat.Scheduler",
            "leased_beat_lease_ttl": "10s",
        },
    )
    app.config.from_prefixed_env()
    database.init_app(app)
    background.init_app(app)
    app.register_blueprint(views.shop)
    return app
