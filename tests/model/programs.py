"""The programs: what a replica and a worker do between two quiet moments, in production code."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from celery.app.task import Context
from celery.exceptions import Reject

from celery_leased_beat.election.contender import Won
from celery_leased_beat.errors import StoreError
from celery_leased_beat.fires import from_milliseconds
from celery_leased_beat.headers import HEADER
from celery_leased_beat.store import Lease
from tests.model.kept import Kept
from tests.model.outside import Letter
from tests.model.parts import REPLICA, TOKEN, Parts


class Tried(NamedTuple):
    """A contender after a try, and what it has won."""

    contender: int
    won: Won | None


@dataclass(frozen=True)
class Turn:
    """One turn of an engine at ``now`` (ms); it ends as an engine."""

    parts: Parts
    engine: int
    now: int
    token = ""

    def run(self) -> int:
        engine = self.parts.engines.copy(self.engine)
        engine.turn(from_milliseconds(self.now))
        return self.parts.engines.keep(engine)


@dataclass(frozen=True)
class Try:
    """One try of a contender for the lease. Unless it is ``watching``, it has not seen the holder before."""

    contenders: Kept
    contender: int
    watching: bool = False
    token = TOKEN

    def run(self) -> Tried:
        contender = self.contenders.copy(self.contender)
        if not self.watching:
            contender._lease._seen = None
        try:
            won = contender.attempt()
        except StoreError:
            won = None
        return Tried(self.contenders.keep(contender), won)


@dataclass(frozen=True)
class Renewal:
    """One renewal of the lease with the token ``of``; it ends as whether that is still there, None for no answer."""

    lease: Lease
    of: str
    token = ""

    def run(self) -> bool | None:
        try:
            return self.lease.renew(self.of, REPLICA) is not None
        except StoreError:
            return None


@dataclass(frozen=True)
class Work:
    """What a worker does with one message: the task as Celery runs it, then what is left for its renewer.

    ``token`` is the token of its run.
    """

    parts: Parts
    letter: Letter
    delivery: str
    attempt: int
    token: str

    def run(self) -> None:
        renewer = self.parts.start_worker()
        self.parts.border.ask("requeue" if self._run_task() else "acknowledge")
        while renewer._runs:
            renewer._keep_all()

    def _run_task(self) -> bool:
        """Return whether the message goes back into its queue. All else acknowledges it, since its worker lives."""
        letter = self.letter
        task = self.parts.app.tasks[letter.task]
        header, kwargs = {**json.loads(letter.header), "delivery": self.delivery}, json.loads(letter.kwargs)
        request = Context(
            id=letter.task_id, task=task.name, retries=self.attempt, called_directly=False, args=(), kwargs=kwargs,
            delivery_info={"exchange": "", "routing_key": "celery"}, **{HEADER: header},
        )  # fmt: skip
        task.request_stack.push(request)
        try:
            task(**kwargs)
        except Reject as reject:
            return bool(reject.requeue)
        except Exception:  # Ignore and Retry among them
            return False
        finally:
            task.request_stack.pop()
        return False


@dataclass(frozen=True)
class Call:
    """A program that is one call."""

    call: Callable[[], object]
    token = ""

    def run(self) -> None:
        self.call()
