"""Nothing here knows of this package. The test's own program gives the one setting that switches the scheduler."""

import os
from datetime import timedelta

from celery.schedules import crontab, schedule, solar

SECRET_KEY = "not a secret"
INSTALLED_APPS = ["old_shop"]
USE_TZ = True
TIME_ZONE = "Europe/Budapest"

CELERY_BROKER_URL = os.environ["BROKER_URL"]
CELERY_TIMEZONE = TIME_ZONE
CELERY_RESULT_EXPIRES = None
CELERY_TASK_ROUTES = {"elsewhere.*": {"queue": "routed"}}
if "BEAT_SCHEDULER" in os.environ:
    CELERY_BEAT_SCHEDULER = os.environ["BEAT_SCHEDULER"]

NOTE, REPORT = "old_shop.tasks.note", "old_shop.tasks.report"

CELERY_BEAT_SCHEDULE = {
    "quarters": {"task": NOTE, "schedule": crontab(minute="*/15"), "options": {"queue": "mail", "priority": 3}},
    "nightly": {"task": REPORT, "schedule": crontab(30, 2), "args": ("main",), "kwargs": {"full": True}},
    "office hours": {
        "task": REPORT, "schedule": crontab(0, "9-17", day_of_week="mon-fri"), "args": ["main"],
        "options": {"expires": 3600, "queue": "office"},
    },
    "both days": {
        "task": NOTE, "schedule": crontab(0, [6, 18], day_of_month="1-7,22-29", day_of_week="tue,thu,sun"),
        "kwargs": {"nested": {"list": [1, 2.5, None]}},
    },
    "timedelta": {"task": NOTE, "schedule": timedelta(minutes=90), "options": {"headers": {"tenant": 7}}},
    "seconds": {"task": "elsewhere.note", "schedule": 5400.5, "args": (1,)},
    "relative schedule": {"task": NOTE, "schedule": schedule(timedelta(hours=2), relative=True)},
    "relative days": {"task": NOTE, "schedule": timedelta(days=2), "relative": True, "options": {"countdown": 60}},
    "sunset": {"task": NOTE, "schedule": solar("sunset", 47.5, 19.04), "options": {"expires": 90.5, "priority": 0}},
    "wrapping": {
        "task": NOTE, "schedule": crontab(minute="55-5", hour="22,2"), "options": {"routing_key": "other"},
    },
}  # fmt: skip
