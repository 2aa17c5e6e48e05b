"""The schedule under test, in the two versions of a rolling deploy, for the app and for the verdict alike.

The second version has the entry ``added`` and lacks ``removed``, and ``retimed`` has another interval.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, timedelta
from typing import Any

from celery_leased_beat import event
from celery_leased_beat.engine import EntryKey
from celery_leased_beat.fires import listener_id
from celery_leased_beat.schedule import Entry, EventTarget, ScheduleBuilder

SECOND = timedelta(seconds=1)
LISTENERS = ("alpha", "beta")
VERSIONS = (1, 2)

#: The entry at whose instants the faults are aimed: one each second, and none may be left out.
AIMED = "second"
#: How long the slow job takes: long enough to be met by a fault.
SLOW = timedelta(seconds=2)


@event("chaos.struck")
@dataclass(frozen=True)
class Struck:
    """An instant of an entry has come."""

    entry: str


def compose(schedule: ScheduleBuilder, version: int, work: Callable[[timedelta], Callable[..., Any]]) -> None:
    """Write the entries of ``version``; ``work`` makes the handler of a job that takes so long."""

    def strike(name: str, spec: str | timedelta, **options: Any) -> None:
        schedule.cron(spec, Struck(name), name=name, **options)

    quick, slow = work(timedelta()), work(SLOW)
    strike(AIMED, SECOND, catch_up="all")
    strike("second-grace", SECOND, catch_up="all", grace=3 * SECOND)
    schedule.job("second-latest", SECOND, quick, catch_up="latest")
    schedule.job("second-skip", SECOND, quick, catch_up="skip")
    schedule.job("slow", 5 * SECOND, slow, catch_up="all")
    strike("minute", "* * * * *", catch_up="all")
    strike("minute-latest", "* * * * *", catch_up="latest")
    strike("minute-grace", "* * * * *", catch_up="all", grace=15 * SECOND)
    schedule.job("minute-skip", "* * * * *", quick, catch_up="skip")
    if version == 1:
        strike("removed", 2 * SECOND, catch_up="latest")
        strike("retimed", 2 * SECOND, catch_up="all")
    else:
        strike("added", 2 * SECOND, catch_up="latest")
        strike("retimed", 3 * SECOND, catch_up="all")


def entries_of(version: int) -> Mapping[str, Entry]:
    """Return the entries of ``version`` as a replica has them, with handlers that do nothing."""
    builder = ScheduleBuilder()
    compose(builder, version, lambda _: lambda: None)
    return {name: entry.resolved(UTC) for name, entry in builder.entries.items()}


def keys_of(version: int) -> set[EntryKey]:
    """Return under what the ledger keeps the entries of ``version``."""
    return {EntryKey(entry.name, entry.timing.key) for entry in entries_of(version).values()}


def all_entries() -> Mapping[EntryKey, Entry]:
    """Return the entries of all versions, under what the ledger keeps them."""
    entries = (entry for version in VERSIONS for entry in entries_of(version).values())
    return {EntryKey(entry.name, entry.timing.key): entry for entry in entries}


def tasks_of(entry: Entry, fire: str) -> list[str]:
    """Return the ids of the tasks whose bodies a fire of ``entry`` is to run: each listener's, or the job's own."""
    if isinstance(entry.target, EventTarget):
        return [listener_id(fire, listener) for listener in LISTENERS]
    return [fire]
