"""From the app of the command line to its schedule, its ledger, its lease and the roll of its replicas."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from importlib.util import find_spec

import click
from celery import Celery, _state
from celery.utils.imports import cwd_in_path

from celery_leased_beat.binding import schedule_for, settings_for
from celery_leased_beat.binding.served import served
from celery_leased_beat.errors import LeasedBeatError, SettingsError, StoreError
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
def told(app: Celery) -> Iterator[None]:
    """Let an error of ours be ``Trouble``; one of settings says so where no app was given that could have them."""
    try:
        yield
    except SettingsError as error:
        none_given = app is getattr(_state, "default_app", None) and app.main == "default"
        hint = "; no app is given, which is `celery -A NAME leased-beat ...`" if none_given else ""
        raise Trouble(f"{error}{hint}") from error
    except LeasedBeatError as error:
        raise Trouble(str(error)) from error


def import_modules(app: Celery) -> None:
    """Import what ``app`` includes, as Celery does for a worker and for beat only; an error there is ``Trouble``."""
    try:
        app.loader.import_default_modules()
    except LeasedBeatError:
        raise
    except Exception as error:
        why = f"the modules of the app cannot be imported: {type(error).__name__}: {error}"
        raise Trouble(why + _hint(error)) from error


def _hint(error: Exception) -> str:
    """Say what helps where Celery's own discovery does not see the working directory, which ours does."""
    package = error.name if isinstance(error, ModuleNotFoundError) else None
    with cwd_in_path():
        # A module of a package that was found is looked for in that package, not in the folder.
        is_here = package is not None and "." not in package and find_spec(package) is not None
    return f"; {package} is in this folder: `python -m celery` has the folder on its path" if is_here else ""


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
    with told(app):
        import_modules(app)
        settings = settings_for(app)
        entries = served(app, schedule_for(app), settings).entries
        keys, options = Keys(settings.namespace), settings.transport_options
        try:
            with connect(settings.backend_url, options=options, timeout=TIMEOUT, key=keys.lease) as client:
                readers = LedgerReader(client, keys), LeaseReader(client, keys), RollReader(client, keys)
                yield Access(settings, entries, *readers)
        except StoreError as error:
            raise Trouble(f"{safe_url(settings.backend_url)}: {error}") from error
