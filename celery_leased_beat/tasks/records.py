"""What the tasks of an app read and write in Valkey, from one process."""

import logging
import os
from dataclasses import dataclass
from datetime import timedelta
from weakref import WeakKeyDictionary

from celery import Celery

from celery_leased_beat import store
from celery_leased_beat.engine import Silence
from celery_leased_beat.tasks.configuration import settings_for
from celery_leased_beat.tasks.renewer import Renewer

logger = logging.getLogger(__name__)

#: How long one connect and one answer may take: two tries and a renewal's pause fit well into a hold.
TIMEOUT = timedelta(seconds=3)


@dataclass(frozen=True, slots=True)
class Records:
    """The markers and the fan-out records of an app, and the renewer of this process. It connects when it is used."""

    process: int
    markers: store.Markers
    fanouts: store.Fanouts
    renewer: Renewer


_silences: WeakKeyDictionary[Celery, Silence] = WeakKeyDictionary()
_records: WeakKeyDictionary[Celery, Records] = WeakKeyDictionary()


def records_for(app: Celery) -> Records:
    """Return the records of ``app`` for this process: a forked child has its own. Raises ``SettingsError``."""
    records = _records.get(app)
    if records is None or records.process != os.getpid():
        records = _records[app] = _open(app)
    return records


def silence_of(app: Celery) -> Silence:
    """Return what says once that the messages of ``app`` are put off, and once that its tasks start again."""
    silence = _silences.get(app)
    if silence is None:
        silence = _silences[app] = Silence(
            logger,
            begins="no task can start, messages are put off until the lease's server answers",
            ends="the lease's server answers again, tasks start",
        )
    return silence


def _open(app: Celery) -> Records:
    settings = settings_for(app)
    keys = store.Keys(settings.namespace)
    client = store.connect(settings.backend_url, options=settings.transport_options, timeout=TIMEOUT, key=keys.lease)
    return Records(
        process=os.getpid(),
        markers=store.Markers(client, keys, settings.marker_ttl),
        fanouts=store.Fanouts(client, keys, settings.marker_ttl),
        renewer=Renewer(),
    )
