"""What can happen in the shop.

An event is data that JSON can carry. It knows neither who listens to it nor when it is due.
"""

from dataclasses import dataclass

from celery_leased_beat import event


@event("shop.sync_inventory")
@dataclass(frozen=True)
class SyncInventory:
    """The stock on the site is to be brought in line with a warehouse."""

    warehouse: str = "main"


@event("shop.till_closed")
@dataclass(frozen=True)
class TillClosed:
    """A second of a till is over, and its turnover is to be booked."""

    till: str


@event("shop.digest_due")
@dataclass(frozen=True)
class DigestDue:
    """It is time for the digest of what is new."""

    audience: str = "all"
