"""``celery -A app leased-beat add``: jobs, events and listeners, written into a package."""

from collections.abc import Callable

import click
from celery.bin.base import CeleryCommand

_SPECS = (("--cron", '"0 3 * * *"'), ("--every", "1h30m"), ("--daily-at", "06:30"))


@click.group()
def add() -> None:
    """Write a job, an event or a listener.

    They go into a package of the project. What is written runs as it is, and says so in the log. What is there already
    is not touched.
    """


def _writes(*arguments: str, timed: bool = False) -> Callable[[Callable[..., None]], click.Command]:
    """Make a command of ``add`` with these arguments, ``--dry-run`` and, where it is timed, an option for each spec."""

    def command(function: Callable[..., None]) -> click.Command:
        options = [click.argument(name) for name in arguments]
        for option, example in _SPECS if timed else ():
            options.append(click.option(option, metavar="SPEC", help=f"When it is due: {example}."))
        options.append(click.option("--dry-run", is_flag=True, help="Show what would be changed, and change nothing."))
        for decorate in reversed(options):
            function = decorate(function)
        return add.command(cls=CeleryCommand)(click.pass_context(function))

    return command


@_writes("package", "name", timed=True)
def job(context: click.Context, /, package: str, name: str, dry_run: bool, **specs: str | None) -> None:
    """Add the job NAME to PACKAGE.

    That is a handler, and the call that says when it runs.
    """
    from celery_leased_beat.cli import adding

    adding.add_job(context.obj.app, package, name, specs, dry_run=dry_run)


@_writes("package", "name", timed=True)
def event(context: click.Context, /, package: str, name: str, dry_run: bool, **specs: str | None) -> None:
    """Add the event NAME to PACKAGE.

    That is its class and, with a spec, the call that says when it is dispatched.
    """
    from celery_leased_beat.cli import adding

    adding.add_event(context.obj.app, package, name, specs, dry_run=dry_run)


@_writes("package", "event", "name")
def listener(context: click.Context, package: str, event: str, name: str, dry_run: bool) -> None:
    """Add the listener NAME to PACKAGE.

    EVENT is an event of that package, or of another one as OTHER.EVENT.
    """
    from celery_leased_beat.cli import adding

    adding.add_listener(context.obj.app, package, event, name, dry_run=dry_run)
