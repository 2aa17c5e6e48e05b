"""What one entry's plan asks the ledger to write."""

from datetime import datetime

from celery_leased_beat.engine.agenda import Item
from celery_leased_beat.engine.protocols import Claim, Intent, Term
from celery_leased_beat.fires import Fire, fire_id
from celery_leased_beat.plan import Decision, Outcome, plan
from celery_leased_beat.schedule import Entry


def claims_of(
    item: Item, now: datetime, serving_since: datetime, namespace: str, term: Term, burst: int
) -> list[Claim]:
    """Return one claim per decision for the instants of ``item`` up to ``now``; see ``plan`` for the rest.

    Raises what the entry's timing or its lazy arguments raise.
    """
    decisions = plan(item.timing, item.policy, item.position.watermark, now, serving_since, burst)
    return [Claim(item.key, decision, _intent(item.entry, decision, namespace, term)) for decision in decisions]


def _intent(entry: Entry, decision: Decision, namespace: str, term: Term) -> Intent | None:
    if decision.outcome is not Outcome.FIRED:
        return None
    instant = decision.last
    fire = Fire(fire_id(namespace, entry.name, instant), entry.name, instant)
    args, kwargs = entry.arguments()
    return Intent(fire, entry.task, args, kwargs, entry.options, entry.policy.grace, term.number)
