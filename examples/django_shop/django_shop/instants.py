"""Instants in the database."""

from datetime import datetime

from django.conf import settings
from django.utils.timezone import make_naive


def to_database(instant: datetime) -> datetime:
    """Return an aware instant as the database takes it: without ``USE_TZ`` naive, in ``TIME_ZONE``."""
    return instant if settings.USE_TZ else make_naive(instant)
