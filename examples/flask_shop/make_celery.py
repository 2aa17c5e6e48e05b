"""The Celery app, for its command: ``celery -A make_celery worker``."""

from flask_shop import create_app

app = create_app().extensions["celery"]
