"""What can happen."""

from dataclasses import dataclass

from celery_leased_beat import event


@event("catalogue.sync_inventory")
@dataclass(frozen=True)
class SyncInventory:
    """The stock on the site is to be brought in line with a warehouse."""

    warehouse: str = "main"
