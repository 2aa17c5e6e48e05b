"""From the app of the command line to its schedule, its ledger, its lease and the roll of its replicas."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta

import click
from celery import Celery

from celery_leased_beat.binding import schedule_for, settings_for
from celery_leased_beat.binding.served import served
from celery_leased_beat.errors import LeasedBeatError, StoreError
from celery_leased_beat.schedule import Entry
from celery_leased_beat.settings import Settings, safe_url
from celery_leased_beat.store import Keys, LeaseReader, LedgerReader, RollReader, connect

#: For how long a person is kept waiting for one answer.
TIMEOUT = timedelta(seconds=5)


class Trouble(click.ClickException):
    """The command could not do its work; one line says why."""

    exit_code = 2

    def __init__(self, why: str) -> None:
        super().__init__(" ".join(why.split()))


@contextmanager
def told() -> Iterator[None]:
    """Let an error of ours be ``Trouble``."""
    try:
        yield
    except LeasedBeatError as error:
        raise Trouble(str(error)) from error


@dataclass(frozen=True, slots=True)
class Access:
    """What a command works with. The timings of ``entries`` have their zones."""

    settings: Settings
    entries: Mapping[str, Entry]
    ledger: LedgerReader
    lease: LeaseReader
    roll: RollReader


@contextmanager
def open_access(app: Celery) -> Iterator[Access]:
    """Give what belongs to ``app``, with the modules it includes imported. Errors of ours become ``Trouble``."""
    with told():
        app.loader.import_default_modules()  # Celery does so for a worker and for beat only
        settings = settings_for(app)
        entries = served(app, schedule_for(app), settings).entries
        keys, options = Keys(settings.namespace), settings.transport_options
        try:
            with connect(settings.backend_url, options=options, timeout=TIMEOUT, key=keys.lease) as client:
                readers = LedgerReader(client, keys), LeaseReader(client, keys), RollReader(client, keys)
                yield Access(settings, entries, *readers)
        except StoreError as error:
            raise Trouble(f"{safe_url(settings.backend_url)}: {error}") from error
