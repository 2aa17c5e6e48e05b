"""``celery -A app leased-beat add``: jobs, events and listeners, written into a package."""

from collections.abc import Callable
from typing import Any

import click
from celery.bin.base import CeleryCommand

_dry_run = click.option("--dry-run", is_flag=True, help="Show what would be changed, and change nothing.")


def _timed(command: Callable[..., Any]) -> Callable[..., Any]:
    for option, example in (("--daily-at", "06:30"), ("--every", "1h30m"), ("--cron", '"0 3 * * *"')):
        command = click.option(option, metavar="SPEC", help=f"When it is due: {example}.")(command)
    return command


@click.group()
def add() -> None:
    """Write a job, an event or a listener into a package.

    What is written runs as it is, and says so in the log. What is there already is not touched.
    """


@add.command(cls=CeleryCommand)
@click.argument("package")
@click.argument("name")
@_timed
@_dry_run
@click.pass_context
def job(context: click.Context, /, package: str, name: str, dry_run: bool, **specs: str | None) -> None:
    """Add the job NAME: a handler, and the call that says when it runs."""
    from celery_leased_beat.cli import adding

    adding.add_job(context.obj.app, package, name, specs, dry_run=dry_run)


@add.command(cls=CeleryCommand)
@click.argument("package")
@click.argument("name")
@_timed
@_dry_run
@click.pass_context
def event(context: click.Context, /, package: str, name: str, dry_run: bool, **specs: str | None) -> None:
    """Add the event NAME: its class and, with a spec, the call that says when it is dispatched."""
    from celery_leased_beat.cli import adding

    adding.add_event(context.obj.app, package, name, specs, dry_run=dry_run)


@add.command(cls=CeleryCommand)
@click.argument("package")
@click.argument("event")
@click.argument("name")
@_dry_run
@click.pass_context
def listener(context: click.Context, package: str, event: str, name: str, dry_run: bool) -> None:
    """Add the listener NAME of EVENT, an event of the package, or of another one as OTHER.EVENT."""
    from celery_leased_beat.cli import adding

    adding.add_listener(context.obj.app, package, event, name, dry_run=dry_run)
