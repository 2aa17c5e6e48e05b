"""When an entry is due: ``Cron`` and ``Every``. The only place that knows time zones."""

from celery_leased_beat.timing.aligned import Aligned
from celery_leased_beat.timing.cron import Cron
from celery_leased_beat.timing.durations import to_duration
from celery_leased_beat.timing.every import Every
from celery_leased_beat.timing.host import to_named_zone, zone_of_host
from celery_leased_beat.timing.parse import daily_at, every, parse
from celery_leased_beat.timing.timing import AskAgain, Timing, described, has_memory
from celery_leased_beat.timing.zones import TICK, to_utc, to_zone

__all__ = [
    "TICK",
    "Aligned",
    "AskAgain",
    "Cron",
    "Every",
    "Timing",
    "daily_at",
    "described",
    "every",
    "has_memory",
    "parse",
    "to_duration",
    "to_named_zone",
    "to_utc",
    "to_zone",
    "zone_of_host",
]
