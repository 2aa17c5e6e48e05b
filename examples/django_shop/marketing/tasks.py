"""What marketing does when something happens. Each listener is a task of its own, with its own retries."""

from django.core.mail import send_mail

from celery_leased_beat import Envelope
from django_shop.celery import events
from django_shop.instants import to_database
from marketing.events import DigestDue
from marketing.models import Digest


@events.listener(DigestDue, max_retries=5)
def mail_digest(event: DigestDue) -> None:
    send_mail("What is new", "A lot.", "shop@example.com", [f"{event.audience}@example.com"])


@events.listener(DigestDue)
def archive_digest(event: DigestDue, envelope: Envelope) -> None:
    Digest.objects.get_or_create(
        envelope=envelope.id,
        defaults={"audience": event.audience, "instant": to_database(envelope.occurred_at)},
    )
