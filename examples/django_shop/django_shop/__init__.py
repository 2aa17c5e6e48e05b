"""The project. Its Celery app is made whenever Django starts, so that ``shared_task`` finds it."""

from django_shop.celery import app as celery_app

__all__ = ["celery_app"]
