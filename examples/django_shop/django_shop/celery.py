"""The Celery app of the project, as Celery's documentation has it, and its schedule and listeners."""

import os

from celery import Celery

from celery_leased_beat import Events, Schedule

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "django_shop.settings")

app = Celery("django_shop")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()

events = Events(app)
schedule = Schedule(app).autodiscover()
