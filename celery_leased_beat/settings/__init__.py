"""What a user sets, read once and checked: one frozen :class:`Settings`.

==============================================  ==============================================
where a setting is looked for                   ``sources``
all of them, by name                            ``settings``
which server holds the lease                    ``server``
how a URL is taken apart, and shown             ``url``
how long a lease and a marker live              ``lifetimes``
the names and the switch                        ``checks``
==============================================  ==============================================

Each error names the setting, its value and what is allowed.
"""

from celery_leased_beat.settings.lifetimes import MARKER_TTL
from celery_leased_beat.settings.server import SCHEMES
from celery_leased_beat.settings.settings import Settings
from celery_leased_beat.settings.sources import spellings
from celery_leased_beat.settings.url import safe_url

__all__ = ["MARKER_TTL", "SCHEMES", "Settings", "safe_url", "spellings"]
