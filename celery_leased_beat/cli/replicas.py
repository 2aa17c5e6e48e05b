"""``celery -A app leased-beat replicas``: who holds the lease, who stands by, and with what schedule."""

import json
from dataclasses import asdict, replace

import click
from celery.bin.base import CeleryCommand

from celery_leased_beat.binding.outline import Outline
from celery_leased_beat.cli.access import open_access
from celery_leased_beat.store import Holder, Member


@click.command(cls=CeleryCommand)
@click.option("--json", "as_json", is_flag=True, help="Print it as JSON.")
@click.pass_context
def replicas(context: click.Context, as_json: bool) -> None:
    """Tell who holds the lease, and who stands by.

    Tells which replicas compete for it, and whether their schedules are the same. Ends with status 1 where nobody holds
    the lease or the replicas' schedules differ, and with 2 where that could not be told.
    """
    with open_access(context.obj.app) as access:
        members = access.roll.members()
        value, remaining = access.lease.read()
        digest = Outline.of(access.entries.values()).digest
        namespace = access.settings.namespace
    holder = Holder.parse(value) if value else None
    members = _by_the_lease(members, holder)
    seconds = remaining.total_seconds()
    if as_json:
        lease = {"replica": holder.replica, "term": holder.term, "remaining": seconds} if holder else None
        found = {"lease": lease, "digest": digest, "replicas": [asdict(member) for member in members]}
        click.echo(json.dumps(found, indent=2))
    else:
        from celery_leased_beat.cli import roster

        roster.show(namespace, _headline(holder, seconds), _rows(members, digest), no_color=context.obj.no_color)
    differ = len({member.digest for member in members}) > 1
    context.exit(1 if holder is None or differ else 0)


def _by_the_lease(members: tuple[Member, ...], holder: Holder | None) -> tuple[Member, ...]:
    """Return the records with the term of the one holder: a record may be a second old, or that of a dead holder."""
    term = holder.term if holder else 0
    named = [member for member in members if holder and member.replica == holder.replica]
    holding = max(named, key=lambda member: member.term == term, default=None)
    return tuple(replace(member, term=term if member is holding else 0) for member in members)


def _headline(holder: Holder | None, seconds: float) -> str:
    if holder is None:
        return "nobody holds the lease"
    return f"{holder.replica or 'a foreign value'} holds the lease, term {holder.term}, for {seconds:.1f} s more"


def _rows(members: tuple[Member, ...], digest: str) -> list[list[str]]:
    """Return a line per replica: itself, what it does, its version, its schedule, whether that is the code's here."""
    return [
        [
            member.replica,
            f"holder, term {member.term}" if member.term else "standby",
            member.version or "-",
            str(member.entries),
            member.digest,
            "" if member.digest == digest else "another schedule than the code here",
        ]
        for member in members
    ]
