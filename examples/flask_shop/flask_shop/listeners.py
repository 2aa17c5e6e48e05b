"""What the shop does when something happens. Each listener is a task of its own, with its own retries."""

from flask import current_app

from celery_leased_beat import Envelope
from flask_shop.background import events
from flask_shop.database import connection
from flask_shop.events import DigestDue, SyncInventory


@events.listener(SyncInventory)
def sync_inventory(event: SyncInventory, envelope: Envelope) -> None:
    row = (envelope.id, event.warehouse, envelope.occurred_at.isoformat())
    connection().execute("INSERT OR IGNORE INTO sync VALUES (?, ?, ?)", row)


@events.listener(DigestDue, max_retries=5)
def mail_digest(event: DigestDue) -> None:
    current_app.logger.warning("mail of what is new for %s", event.audience)


@events.listener(DigestDue)
def archive_digest(event: DigestDue, envelope: Envelope) -> None:
    row = (envelope.id, event.audience, envelope.occurred_at.isoformat())
    connection().execute("INSERT OR IGNORE INTO digest VALUES (?, ?, ?)", row)
