"""Settings with which nothing of the project's own is in UTC."""

from django_shop.settings import *  # noqa: F403

CELERY_ENABLE_UTC = False
