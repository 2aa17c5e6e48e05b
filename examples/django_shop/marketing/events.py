"""What can happen."""

from dataclasses import dataclass

from celery_leased_beat import event


@event("marketing.digest_due")
@dataclass(frozen=True)
class DigestDue:
    """It is time for the digest of what is new."""

    audience: str = "all"
