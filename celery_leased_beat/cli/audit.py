"""``celery -A app leased-beat audit``: what was decided for each instant, and what is missing or doubled."""

import click
from celery.bin.base import CeleryCommand

from celery_leased_beat.audit import Audit
from celery_leased_beat.audit import audit as examine
from celery_leased_beat.cli.access import Access, Trouble, open_access
from celery_leased_beat.cli.moment import Moment, read_moment, to_instant
from celery_leased_beat.engine import EntryKey

#: A crashed holder's lease ends within a TTL, and after a restart of the server the first claim waits for one more.
LIVES_OF_A_LEASE = 2


@click.command(cls=CeleryCommand)
@click.option(
    "--since", callback=read_moment, default="1h", show_default=True, help="From when: 1h30m ago, or 2026-07-01T06:30Z."
)
@click.option("--until", callback=read_moment, default="0s", help="Up to when; now, where it is left out.")
@click.option("--entry", "name", metavar="NAME", help="One entry only.")
@click.option("--json", "as_json", is_flag=True, help="Print all findings as JSON.")
@click.pass_context
def audit(context: click.Context, since: Moment, until: Moment, name: str | None, as_json: bool) -> None:
    """Tell what was decided for each instant of each entry.

    Holds the schedule's own instants against the ledger. Ends with status 1 where an instant is missing (nobody
    decided it) or doubled (it was decided twice), and with 2 where the audit could not be made.
    """
    from celery_leased_beat.cli import report

    with open_access(context.obj.app) as access:
        found = _audit(access, since, until, name)
        if as_json:
            click.echo(report.to_json(found))
        else:
            report.show(found, access.settings.namespace, no_color=context.obj.no_color)
    context.exit(0 if found.clean else 1)


def _audit(access: Access, since: Moment, until: Moment, name: str | None) -> Audit:
    now = access.ledger.now()
    begin, end = to_instant(since, now), to_instant(until, now)
    if begin >= end:
        raise Trouble(f"the window is empty: it would begin at {begin.isoformat()} and end at {end.isoformat()}")
    entries = [entry for entry in access.entries.values() if name in (None, entry.name)]
    keys = [EntryKey(entry.name, entry.timing.key) for entry in entries]
    snapshot = access.ledger.snapshot(keys, begin, name)
    if name is not None and not entries and not snapshot.records:
        raise Trouble(f"there is no entry {name!r}, neither in the schedule nor in the history since then")
    tolerance = LIVES_OF_A_LEASE * access.settings.lease_ttl
    return examine(entries, snapshot, since=begin, until=end, tolerance=tolerance)
