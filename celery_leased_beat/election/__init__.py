"""Who holds the lease, and what a replica may believe of it. ``Election`` satisfies the engine's ``Trust``."""

from celery_leased_beat.election.election import Election
from celery_leased_beat.election.presence import Presence, Seen
from celery_leased_beat.election.waker import Waker
from celery_leased_beat.election.watch import Move, Watch

__all__ = ["Election", "Move", "Presence", "Seen", "Waker", "Watch"]
