"""What can happen."""

from dataclasses import dataclass

from celery_leased_beat import event


@event("shop.sync_inventory")
@dataclass(frozen=True)
class SyncInventory:
    """The stock on the site is to be brought in line with a warehouse."""

    warehouse: str = "main"


@event("shop.digest_due")
@dataclass(frozen=True)
class DigestDue:
    """It is time for the digest of what is new."""

    audience: str = "all"
