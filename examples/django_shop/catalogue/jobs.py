"""When the stock is looked after. ``schedule.autodiscover()`` finds this module and calls ``register``."""

from datetime import timedelta

from django.utils.timezone import localdate

from catalogue.events import SyncInventory
from catalogue.models import DailyCount, Sync
from celery_leased_beat import Fire, Schedule


def count_syncs(fire: Fire) -> None:
    DailyCount.objects.update_or_create(day=localdate(fire.instant), defaults={"syncs": Sync.objects.count()})


def register(schedule: Schedule) -> None:
    schedule.every(timedelta(seconds=5), SyncInventory())
    schedule.job("catalogue.count_syncs", "0 3 * * *", count_syncs, timeout=timedelta(minutes=10))
