"""Production code as it is put together in a replica and in a worker, with the border around it."""

import os
from dataclasses import dataclass
from datetime import UTC, timedelta
from threading import Thread
from typing import Any

from celery import Celery

from celery_leased_beat import Events, Schedule, event
from celery_leased_beat.election.belief import MARGIN
from celery_leased_beat.election.contender import Contender
from celery_leased_beat.engine import Engine
from celery_leased_beat.publisher import Publisher
from celery_leased_beat.store import Fanouts, Keys, Lease, Ledger, Markers, ServerClock
from celery_leased_beat.tasks import records
from celery_leased_beat.tasks.renewer import Renewer
from tests.model import outside
from tests.model.border import LOST, Border
from tests.model.kept import Kept

NAMESPACE = "model"
REPLICA = "replica"
TTL = timedelta(seconds=15)
HOUR = timedelta(hours=1)

#: The token of a try for the lease. The world puts another in its place on the way.
TOKEN = "asked"
#: The answer to a body that goes on: the renewer of its process does what is due.
RENEW = "renew"


@event("due")
@dataclass(frozen=True)
class Due:
    """What the one entry fires where there are listeners."""


class BodyFailed(Exception):
    """What a body raises."""


class Unopposed:
    """The admission of a replica that competes with others of its version."""

    __slots__ = ()
    leaves_wake_to_others = False

    def stand_by(self, *, held: bool) -> None: ...

    def admits(self, *, dead: int, rescues: bool) -> bool:
        return True


class Parts:
    """The parts of all replicas and workers. The one entry, due every hour, is a job, or an event with listeners."""

    def __init__(self, border: Border, *, listeners: int, **options: Any) -> None:
        self.border = border
        self.keys = Keys(NAMESPACE)
        self.listeners = [f"listener{number + 1}" for number in range(listeners)]
        self.app = self._app(options)
        self._client: Any = outside.Client(border)
        self._renewer = Renewer()
        self.ledger = Ledger(self._client, self.keys, ServerClock(), replica=REPLICA)
        connection: Any = outside.Connection(border)
        self.lease = Lease(connection, self.keys, TTL, ServerClock())
        trust = outside.Trust(border)
        self.engines = Kept(self.ledger, trust, self.app, self.entry)
        publisher = Publisher(self.app, NAMESPACE)
        self.new_engine = self.engines.keep(Engine([self.entry], self.ledger, publisher, trust, namespace=NAMESPACE))
        self.contenders = Kept(self.lease)
        with border.replay((), TOKEN):
            self.new_contender = self.contenders.keep(
                Contender(self.lease, REPLICA, Unopposed(), trusted_for=TTL * (1 - MARGIN))
            )

    def _app(self, options: dict[str, Any]) -> Celery:
        app = Celery("model", broker="memory://", set_as_current=False)
        outside.post_over(self.border, app)
        events, schedule = Events(app), Schedule(app)
        for name in self.listeners:
            events.listener(Due, name=name)(lambda event: self._body())
        if self.listeners:
            schedule.every(HOUR, Due(), **options)
        else:
            schedule.job("tick", HOUR, self._body, **options)
        (entry,) = schedule.entries.values()
        self.entry = entry.resolved(UTC)
        for task in app.tasks.values():
            task.publish_patience = 0  # whoever insists takes time, and there is none here
        return app

    def start_worker(self) -> Renewer:
        """Let the tasks run as in a process that was just started; return its renewer, which is without its thread."""
        self._renewer = Renewer()
        self._renewer._thread = Thread()
        records._records[self.app] = records.Records(
            os.getpid(), Markers(self._client, self.keys), Fanouts(self._client, self.keys), self._renewer
        )
        return self._renewer

    def _body(self) -> None:
        while (what := self.border.ask("body")) == RENEW:
            self._renewer._keep_all()
        if what == LOST:
            raise BodyFailed
