"""The settings: those of Celery and of celery-leased-beat begin with ``CELERY_``."""

import os
from pathlib import Path

from celery.schedules import crontab

FOLDER = Path(__file__).parents[1]
VALKEY_URL = os.environ.get("VALKEY_URL", "redis://localhost:6379/0")

SECRET_KEY = os.environ.get("SHOP_SECRET_KEY", "good enough for an example")
INSTALLED_APPS = ["catalogue", "marketing"]
DATABASES = {
    "default": {
        "ENGINE": "django.db.backends.sqlite3",
        "NAME": os.environ.get("SHOP_DATABASE", FOLDER / "db.sqlite3"),
        "OPTIONS": {"timeout": 20, "transaction_mode": "IMMEDIATE"},
    }
}
EMAIL_BACKEND = "django.core.mail.backends.console.EmailBackend"

TIME_ZONE = "Europe/Budapest"
USE_TZ = os.environ.get("SHOP_USE_TZ", "1") == "1"

CELERY_BROKER_URL = VALKEY_URL
CELERY_TIMEZONE = TIME_ZONE
CELERY_TASK_IGNORE_RESULT = True
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True

# What a project has already is served under the same lease.
CELERY_BEAT_SCHEDULE = {
    "forget old syncs": {"task": "catalogue.tasks.forget_old_syncs", "schedule": crontab(minute="0", hour="4")},
}

CELERY_BEAT_SCHEDULER = "celery_leased_beat.Scheduler"
CELERY_LEASED_BEAT_BACKEND = VALKEY_URL
CELERY_LEASED_BEAT_NAMESPACE = "shop"
CELERY_LEASED_BEAT_LEASE_TTL = "10s"
