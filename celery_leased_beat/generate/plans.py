"""What a generator writes into a package, worked out before anything is written."""

from dataclasses import dataclass

from celery_leased_beat.errors import DuplicateNameError, ScheduleError
from celery_leased_beat.generate.entries import check_entry_free
from celery_leased_beat.generate.events import add_event, events_of
from celery_leased_beat.generate.files import Change
from celery_leased_beat.generate.imports import Import, name_in, with_import
from celery_leased_beat.generate.jobs import add_event_entry, add_inclusion, add_job
from celery_leased_beat.generate.listeners import add_listener, has_listener
from celery_leased_beat.generate.names import check_function_name, class_name, full_name
from celery_leased_beat.generate.package import Home, Package
from celery_leased_beat.generate.when import When


@dataclass(frozen=True, slots=True)
class Plan:
    """The changes, which may be none.

    ``what`` says what is there afterwards, in ``path``; ``is_there`` that it is there now. ``module`` is what the app
    has to import for it. The names are those of the entry, the event and the listener that it is about.
    """

    what: str
    path: str
    module: str
    is_there: bool
    changes: tuple[Change, ...]
    entry: str | None = None
    event: str | None = None
    listener: str | None = None


def plan_job(package: Package, name: str, when: When) -> Plan:
    """Plan a handler and the job that runs it. Raises ``ScheduleError``, as all of these do."""
    check_function_name(name)
    job = full_name(package.label, name)
    home, what = package.home("jobs", name), f"the job {job}, {when}"
    changes = home.changed(add_job(home.module, job, name, when), f"{what}, and its handler {name}")
    if changes:
        _check_entry_free(package, job)
    path, included = home.file.shown, _included(home, name)
    return Plan(what, path, f"{package.name}.jobs", not changes, changes + included, entry=job)


def plan_event(package: Package, name: str, when: When | None) -> Plan:
    """Plan an event's class and, with ``when``, the entry that dispatches it."""
    cls, event = class_name(name), full_name(package.label, name)
    found, home, what = _events_of(package).get(event), package.home("events", name), f"the event {event}"
    changes: tuple[Change, ...] = ()
    if found is None:
        changes = home.changed(add_event(home.module, event, cls), f"{what}, class {cls}")
        found = Import(home.module.name, cls)
    if when is None:
        return Plan(what, home.file.shown, f"{package.name}.events", not changes, changes, event=event)
    jobs, what = package.home("jobs", name), f"{what}, {when}"
    entry = jobs.changed(add_event_entry(jobs.module, found, when), f"the entry {event}, {when}")
    if entry:
        _check_entry_free(package, event)
    changes += entry + _included(jobs, name)
    return Plan(what, jobs.file.shown, f"{package.name}.jobs", not entry, changes, entry=event, event=event)


def plan_listener(package: Package, name: str, event: tuple[str, Import], events: Import) -> Plan:
    """Plan a listener of ``event``, which is its name and its class; ``events`` are the app's ``Events``."""
    check_function_name(name)
    home, what = package.home(package.listeners, name), f"the listener {name} of {event[0]}"
    changes = home.changed(add_listener(home.module, event[1], events, name), what)
    for other in package.homes(package.listeners) if changes else ():
        if has_listener(other.module, event[1], name):
            raise DuplicateNameError(f"{other.file.shown} has {what} already; take another name")
    imported: tuple[Change, ...] = ()
    if home.outer:
        outer = home.outer.module
        module, _ = with_import(outer.ended(), Import(outer.name, name, exported=True))
        imported = home.outer.changed(module, f"imports {name}")
    return Plan(
        what, home.file.shown, f"{package.name}.{package.listeners}", not changes, changes + imported,
        event=event[0], listener=name,
    )  # fmt: skip


def require_event(package: Package, name: str) -> tuple[str, Import]:
    """Return the full name of the event called ``name`` in its package, and its class. Raises ``ScheduleError``."""
    known, event = _events_of(package), full_name(package.label, name)
    alike = [one for one in known if one.rpartition(".")[2] == name]  # that has another package's name before it
    if event in known or len(alike) == 1:
        found = event if event in known else alike[0]
        return found, known[found]
    has = f"there are {', '.join(sorted(known))}" if known else "there is none"
    add = f"add it: leased-beat add event {package.name} {name}"
    raise ScheduleError(f"{package.name}.events has no event {event!r}, {has}; {add}")


def _events_of(package: Package) -> dict[str, Import]:
    return {
        name: Import(home.module.name, cls)
        for home in package.homes("events")
        for name, cls in events_of(home.module)
    }  # fmt: skip


def _check_entry_free(package: Package, name: str) -> None:
    """Raise ``DuplicateNameError`` where a module of the package's jobs has an entry of that name."""
    events = _events_of(package)
    for home in package.homes("jobs"):
        known = {local: event for event, cls in events.items() if (local := name_in(home.module, cls))}
        own = {cls: event for event, cls in events_of(home.module)}
        check_entry_free(home.module, name, known | own)


def _included(home: Home, part: str) -> tuple[Change, ...]:
    if home.outer is None:
        return ()
    return home.outer.changed(add_inclusion(home.outer.module, part), f"includes {part}")
