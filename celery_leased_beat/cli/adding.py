"""What ``leased-beat add`` does: plan, check, write, and tell what was done and what is next.

Nothing is written where any of it cannot be: an error is one line, and status 2.
"""

from collections.abc import Mapping

import click
from celery import Celery

from celery_leased_beat.cli.access import Trouble, told
from celery_leased_beat.cli.project import Project
from celery_leased_beat.generate import (
    Plan,
    When,
    plan_event,
    plan_job,
    plan_listener,
    read_when,
    require_event,
    write_changes,
)
from celery_leased_beat.timing import described

Specs = Mapping[str, str | None]


def add_job(app: Celery, package: str, name: str, specs: Specs, *, dry_run: bool) -> None:
    """Add a job to a package."""
    with told(app):
        when = read_when(**specs)
        if when is None:
            raise Trouble("when does it run? give one of --cron, --every and --daily-at")
        project = Project(app)
        plan = plan_job(project.package(package), name, when)
        _carry_out(project, plan, when, dry_run=dry_run)


def add_event(app: Celery, package: str, name: str, specs: Specs, *, dry_run: bool) -> None:
    """Add an event to a package."""
    with told(app):
        when = read_when(**specs)
        project = Project(app)
        plan = plan_event(project.package(package), name, when)
        if _carry_out(project, plan, when, dry_run=dry_run) and not project.listeners_of(plan.event):
            click.echo(f"next: let something listen to it: leased-beat add listener {package} {name} NAME")


def add_listener(app: Celery, package: str, event: str, name: str, *, dry_run: bool) -> None:
    """Add a listener to a package, of an event there or in another one."""
    with told(app):
        project = Project(app)
        home, (other, _, called) = project.package(package), event.rpartition(".")
        source = home if other in ("", home.label) else project.package(other)
        plan = plan_listener(home, name, require_event(source, called), project.events())
        _carry_out(project, plan, None, dry_run=dry_run)


def _carry_out(project: Project, plan: Plan, when: When | None, *, dry_run: bool) -> bool:
    """Write, or show what would be written. Return whether something is left to be done by people."""
    project.check_free(plan)
    if not plan.changes or (plan.is_there and project.finds(plan)):
        click.echo(f"nothing to do: {plan.path} has {plan.what}")
    elif dry_run:
        click.echo("".join(change.diff() for change in plan.changes), nl=False)
        return False
    else:
        write_changes(plan.changes)
        for change in plan.changes:
            click.echo(f"{'wrote' if change.is_new else 'changed'} {change.file.shown}: {change.what}")
        if when is not None:
            click.echo(f"due: {described(when.timing())}")
        project.load()
    if not project.finds(plan):
        click.echo(f"next: {_how_to_be_found(project, plan)}")
    return True


def _how_to_be_found(project: Project, plan: Plan) -> str:
    package = plan.module.rpartition(".")[0]
    if plan.listener:
        return f'let workers import {plan.module}, where the app is made: Celery(..., include=["{plan.module}"])'
    if project.has_schedule:
        return f'let the schedule find {plan.module}, where it is made: schedule.autodiscover(["{package}"])'
    return f'make a schedule, beside the app: schedule = Schedule(app).autodiscover(["{package}"])'
