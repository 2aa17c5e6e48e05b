"""``celery -A app leased-beat ...``: commands for those who operate a schedule.

Celery loads this module for each of its commands, so what only one of ours needs is imported when that one runs.
Exit statuses are grep's: 0 all is well, 1 a finding, 2 the command could not do its work.
"""

from typing import Any

import click
from celery.bin.base import handle_preload_options

from celery_leased_beat.cli.add import add
from celery_leased_beat.cli.audit import audit
from celery_leased_beat.cli.replicas import replicas

__all__ = ["leased_beat"]


@click.group("leased-beat")
@click.pass_context
@handle_preload_options  # a command of Celery's gets the options that an app adds to all commands
def leased_beat(context: click.Context, **_: Any) -> None:
    """Look at the schedule and its replicas, or add to it."""


leased_beat.add_command(add)
leased_beat.add_command(audit)
leased_beat.add_command(replicas)
