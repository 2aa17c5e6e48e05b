"""What the shop does when something happens. Each listener is a task with its own queue and its own retries.

A listener writes what it did into the journal as its last act, under the envelope's id.
"""

from celery_leased_beat import Envelope
from examples.shop.app import deps, events
from examples.shop.events import DigestDue, SyncInventory, TillClosed


@events.listener(SyncInventory)
def sync_inventory(event: SyncInventory, envelope: Envelope) -> None:
    deps.stock.sync(event.warehouse)
    deps.journal.write("sync_inventory", envelope.id, envelope.occurred_at)


@events.listener(TillClosed)
def book_turnover(event: TillClosed, envelope: Envelope) -> None:
    deps.sales.book(event.till, envelope.occurred_at)
    deps.journal.write("book_turnover", envelope.id, envelope.occurred_at)


@events.listener(DigestDue, queue="shop.mail", max_retries=5)
def mail_digest(event: DigestDue, envelope: Envelope) -> None:
    deps.mail.send(to=event.audience, subject="What is new")
    deps.journal.write("mail_digest", envelope.id, envelope.occurred_at)


@events.listener(DigestDue, queue="shop.mail", max_retries=10)
def post_digest(event: DigestDue, envelope: Envelope) -> None:
    """The chat fails twice for every post: Celery retries this listener, and the others do not notice."""
    deps.chat.post(f"What is new for {event.audience}", envelope.id)
    deps.journal.write("post_digest", envelope.id, envelope.occurred_at)


@events.listener(DigestDue)
def archive_digest(event: DigestDue, envelope: Envelope) -> None:
    deps.journal.write("archive_digest", envelope.id, envelope.occurred_at)
