"""The Celery app of the shop.

Start the workers first, then as many beats as you like; one of them fires at a time::

    celery -A examples.shop.app worker -Q shop,shop.mail,shop.reports
    celery -A examples.shop.app beat

The modules under ``jobs`` know neither the app nor each other: they are handed the schedule, and what they work with.
"""

import os

from celery import Celery

from celery_leased_beat import Events, Schedule
from examples.shop.deps import Deps
from examples.shop.jobs import inventory, marketing, reports, tills

app = Celery("shop", broker="redis://localhost:6379/0", include=["examples.shop.listeners"])
app.conf.update(
    beat_scheduler="celery_leased_beat.Scheduler",
    task_default_queue="shop",
    task_ignore_result=True,
    timezone="Europe/Budapest",
)

deps = Deps.connect(os.environ.get("SHOP_DATA_URL", "redis://localhost:6379/0"))
events = Events(app)
schedule = Schedule(app)

for module in (inventory, tills, marketing, reports):
    schedule.include(module, deps)
