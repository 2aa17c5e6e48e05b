"""As Celery's documentation has it for Django."""

from celery import Celery

app = Celery("old_shop")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
