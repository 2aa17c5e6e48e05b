"""For tests of one's own: when a schedule fires, and what its handlers do then. No server, no broker, no worker."""

from celery_leased_beat.testing.deliveries import Delivery
from celery_leased_beat.testing.moments import Moment, to_instant
from celery_leased_beat.testing.rehearsal import Rehearsal, Rehearsals

__all__ = ["Delivery", "Moment", "Rehearsal", "Rehearsals", "to_instant"]
