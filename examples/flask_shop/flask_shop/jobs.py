"""When the shop does what; in the zone of the Celery app."""

from datetime import timedelta
from zoneinfo import ZoneInfo

from celery_leased_beat import Fire
from flask_shop.background import schedule
from flask_shop.database import connection
from flask_shop.events import DigestDue, SyncInventory

schedule.every(timedelta(seconds=5), SyncInventory())
schedule.daily_at("06:30", DigestDue())
schedule.every(timedelta(seconds=10), DigestDue("vip"), name="digest for the impatient")


@schedule.job("shop.count_syncs", "0 3 * * *", timeout=timedelta(minutes=10))
def count_syncs(fire: Fire) -> None:
    day = fire.instant.astimezone(ZoneInfo("Europe/Budapest")).date()
    connection().execute("INSERT OR REPLACE INTO daily_count SELECT ?, count(*) FROM sync", [day.isoformat()])
