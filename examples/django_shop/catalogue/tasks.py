"""What the catalogue does when something happens, and a plain task of Celery's."""

from datetime import timedelta

from celery import shared_task
from django.utils.timezone import now

from catalogue.events import SyncInventory
from catalogue.models import Sync
from celery_leased_beat import Envelope
from django_shop.celery import events
from django_shop.instants import to_database


@events.listener(SyncInventory)
def sync_inventory(event: SyncInventory, envelope: Envelope) -> None:
    Sync.objects.get_or_create(
        envelope=envelope.id,
        defaults={"warehouse": event.warehouse, "instant": to_database(envelope.occurred_at)},
    )


@shared_task
def forget_old_syncs() -> None:
    Sync.objects.filter(instant__lt=now() - timedelta(days=7)).delete()
