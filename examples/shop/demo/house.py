"""The house of one run: a Valkey, the processes of one app on it, and the books on what they do."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from uuid import uuid4

from celery import Celery
from redis import Redis

from celery_leased_beat import Events, Schedule
from celery_leased_beat.store import Keys, LedgerReader
from examples.shop.demo.books import Books
from examples.shop.demo.cast import Cast
from examples.shop.demo.crew import Crew, environment, redis_url
from examples.shop.demo.watch import Watch
from examples.shop.journal import Journal
from examples.valkey import lease_url


@dataclass(frozen=True)
class House:
    """The processes, the books, and the journal from which these are kept."""

    cast: Cast
    books: Books
    journal: Journal


@contextmanager
def house(module: str, app: Celery, schedule: Schedule, events: Events) -> Iterator[House]:
    """Open a house for the app in ``module``, which has this schedule and these events; all ends with the block."""
    namespace = f"{app.main}-{uuid4().hex[:8]}"  # a Valkey that the user gave may know this app already
    with ExitStack() as stack:
        url = redis_url(stack.enter_context(lease_url()))
        keys = Keys(namespace)
        client = stack.enter_context(Redis.from_url(url, decode_responses=True))
        watch = stack.enter_context(Watch(client, keys))
        crew = stack.enter_context(Crew(module, environment(url, namespace)))
        app.loader.import_default_modules()  # the listeners
        entries = [entry.resolved(app.timezone) for entry in schedule.entries.values()]
        journal = Journal(client)
        books = Books(entries, events.listeners, namespace, LedgerReader(client, keys), journal)
        yield House(Cast(crew, watch), books, journal)
