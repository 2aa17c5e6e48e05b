"""The audit: what was decided for each instant of a schedule, what is missing, and what was decided twice.

It holds the schedule's own instants against the ledger. It sees what was decided, not what a worker did with it.
"""

from celery_leased_beat.audit.auditing import audit
from celery_leased_beat.audit.findings import Audit, Doubled, EntryAudit, Gap, Span

__all__ = ["Audit", "Doubled", "EntryAudit", "Gap", "Span", "audit"]
