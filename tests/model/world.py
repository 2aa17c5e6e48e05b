"""What replicas and workers share: the server, the broker, the time, and the faults that may come.

A step is one call to the outside and what its caller then does by itself, up to its next call: in between, nobody else
can tell when things happen. A step is either the ordinary course of things or a *fault*, of which a run has a budget.
"""

from collections.abc import Collection, Iterator
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any, NamedTuple

from celery_leased_beat.engine import EntryKey, Position, Term
from celery_leased_beat.fires import fire_id, from_milliseconds, listener_id, to_milliseconds
from tests.model import laws
from tests.model.border import LOST, Border, Ended, Threads
from tests.model.bounds import Bounds
from tests.model.edits import Edit
from tests.model.laws import Law, Violation
from tests.model.outside import FRESH, Letter
from tests.model.parts import HOUR, NAMESPACE, Parts
from tests.model.programs import Call
from tests.model.scripts import Scripts
from tests.model.server import Command, Server
from tests.model.state import Message, Replica, State, Task, Worker

START = datetime(2026, 1, 1, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
#: A minute later comes the next instant.
LAST_MINUTE = 59
#: Ahead of the clock, so that the number of a term does not tell when it began.
LAST_TERM = 4_000_000_000

#: The scripts that compare a token, the first of their arguments, with the lease's.
FENCED = {"load", "prune", "intents", "claim", "commit", "abandon", "keep"}


class Act(NamedTuple):
    """One way in which a call to the outside may go: the state after it, and what the caller is told."""

    label: str
    state: State
    answer: Any


class Outcome(NamedTuple):
    """What some commands come to: the next server, the replies, outcomes by instant, and what law is broken."""

    server: int
    replies: tuple[Any, ...]
    decided: tuple[tuple[int, str], ...]
    broken: Law | None


class World:
    """The parts, and what is known of them by number.

    ``edits`` remove a guard from a script, and ``heed`` are the laws that count.
    """

    def __init__(self, bounds: Bounds, border: Border, edits: Collection[Edit], heed: Collection[Law]) -> None:
        self.bounds = bounds
        self.parts = Parts(border, listeners=bounds.listeners, catch_up=bounds.catch_up, grace=bounds.grace)
        self.threads = Threads(border)
        self.server = Server(Scripts(edits), self.parts.keys)
        self.terms: list[Term] = []
        self.letters: list[Letter] = []
        self._heed = heed
        self._instants = [START + (number + 1) * HOUR for number in range(bounds.instants)]
        fires = [fire_id(NAMESPACE, self.parts.entry.name, instant) for instant in self._instants]
        self.task_ids = [*fires, *(listener_id(fire, name) for fire in fires for name in self.parts.listeners)]
        self.outcome = cache(self._outcome)
        self.now = cache(self._now)
        self.wakes_soon = cache(self._wakes_soon)

    @property
    def effects(self) -> list[list[int]]:
        """Of each fire, the tasks that complete when it takes effect: its listeners', else its own."""
        fires, listeners = self.bounds.instants, self.bounds.listeners
        return [[fires + fire * listeners + at for at in range(listeners)] or [fire] for fire in range(fires)]

    def start(self) -> State:
        """The entry is enrolled, and nobody holds the lease."""
        return State(
            hour=0, minute=0, server=self._enrolled(),
            replicas=(self.new_replica,) * self.bounds.replicas,
            workers=(Worker(),) * self.bounds.workers,
            messages=(), tasks=(Task(),) * len(self.task_ids), tokens=0, faults=self.bounds.faults,
        )  # fmt: skip

    @property
    def new_replica(self) -> Replica:
        return Replica(self.parts.new_contender, self.parts.new_engine)

    def may(self, state: State, fault: str) -> bool:
        """Return whether this may go wrong now."""
        return state.faults > 0 and fault in self.bounds.kinds

    def broken(self, law: Law | None, step: str = "") -> None:
        """Raise ``Violation`` where this law counts."""
        if law in self._heed:
            raise Violation(law, step)

    def holder(self, server: int) -> str | None:
        """Return the lease's token."""
        lease = self.server.get(server, self.parts.keys.lease)
        return lease.split()[0] if lease else None

    def marker(self, state: State, task: int) -> dict[str, str]:
        return self.server.get(state.server, self.parts.keys.marker(self.task_ids[task])) or {}

    def has_intents(self, state: State) -> bool:
        """Return whether any fire is claimed and not known to be enqueued."""
        return self.server.get(state.server, self.parts.keys.intents) is not None

    def commands(self, state: State, commands: tuple[Command, ...]) -> Iterator[Act]:
        """Yield how these commands may go."""
        outcome = self.outcome(state.server, self.now(state.hour, state.minute), commands)
        name = self.name(commands)
        self.broken(outcome.broken, name)
        after = state._replace(server=outcome.server)
        for fire, what in outcome.decided:
            after = with_task(after, fire, decided=(*after.tasks[fire].decided, what))
            self.broken(laws.of_decisions(after.tasks[fire]), name)
        yield Act(name, after, outcome.replies)
        if self.may(state, "a reply is lost"):
            yield Act(f"{name}, the reply is lost", spent(after), LOST)
        if self.may(state, "a request is lost"):
            yield Act(f"{name}, the request is lost", spent(state), LOST)

    def publish(self, state: State, content: tuple[Letter, str, int], original: Message | None = None) -> Iterator[Act]:
        """Yield how a publish may go. What a worker sends of the task that it runs is a copy of its ``original``."""
        letter, delivery, attempt = content
        task = self.task_ids.index(letter.task_id)
        publish, after = state.tasks[task].publishes + 1, state
        if original and original.task == task:
            publish = original.publish
        else:
            after = with_task(state, task, publishes=publish)
        delivery = f"delivery {publish}" if delivery == FRESH else delivery
        after = _posted(after, Message(task, publish, self._number(self.letters, letter), delivery, attempt, 0, True))
        name = f"publish of task {task + 1}, {delivery}, attempt {attempt}"
        yield Act(name, after, None)
        if self.may(state, "a publish is confirmed late"):
            yield Act(f"{name}, but it counts as failed", spent(after), LOST)
        if self.may(state, "a publish fails"):
            yield Act(f"{name}, which fails", spent(state), LOST)

    def term_number(self, term: Term) -> int:
        return self._number(self.terms, term)

    def name(self, commands: tuple[Command, ...]) -> str:
        return " + ".join(self.server.script_of(command)[0] or str(command[0]) for command in commands)

    def _now(self, hour: int, minute: int) -> int:
        return to_milliseconds(START + hour * HOUR + minute * MINUTE)

    def _number(self, known: list[Any], value: Any) -> int:
        if value not in known:
            known.append(value)
        return known.index(value)

    def _wakes_soon(self, engine: int, now: int) -> bool:
        """Return whether an engine waits for a moment that comes soon: the end of a pause between two tries."""
        at = from_milliseconds(now)
        kept = self.parts.engines.get(engine)
        wake = kept._next_wake(at)
        return wake is not None and at < wake < at + MINUTE and not kept._decider.unanswered

    def _outcome(self, server: int, now: int, commands: tuple[Command, ...]) -> Outcome:
        executed = self.server.execute(server, now, commands)
        broken = None
        if executed.state != server or executed.records:
            for script, arguments in map(self.server.script_of, commands):
                if script in FENCED and arguments[0] != self.holder(server):
                    broken = Law.CLAIMED_WITH_LEASE if script == "claim" else Law.FENCED
        decided = []
        for record in executed.records:
            first, last = int(record["first"]), int(record["last"])
            if last > now:
                broken = Law.NOT_AHEAD
            outcome = "ended" if record["outcome"] != "fired" and record["fire"] else record["outcome"]
            decided += [(at, outcome) for at, due in enumerate(self._instants) if first <= to_milliseconds(due) <= last]
        return Outcome(executed.state, executed.replies, tuple(decided), broken)

    def _enrolled(self) -> int:
        """Return the server after a first term has loaded the entry, and released the lease."""
        parts, now = self.parts, self.now(0, 0)
        key = EntryKey(parts.entry.name, parts.entry.timing.key)
        server = self.server.changed(0, "SET", parts.keys.term, f"{LAST_TERM} run - -")
        for call in (
            lambda: parts.lease.acquire("boot", "boot"),
            lambda: parts.ledger.load(Term(0, "boot"), [key], {key: Position(START, START)}, resume=True),
            lambda: parts.lease.release("boot"),
        ):
            thread = self.threads.begin(Call(call))
            while not isinstance(point := self.threads.point(thread), Ended):
                done = self.server.execute(server, now, point.content)
                server, thread = done.state, self.threads.answer(thread, done.replies)
        return server


def spent(state: State) -> State:
    """Return ``state`` with one fault less to come."""
    return state._replace(faults=state.faults - 1)


def with_task(state: State, at: int, **changes: Any) -> State:
    """Return ``state`` with something else remembered of one task."""
    task = state.tasks[at]._replace(**changes)
    return state._replace(tasks=(*state.tasks[:at], task, *state.tasks[at + 1 :]))


def _posted(state: State, message: Message) -> State:
    held = [worker.message for worker in state.workers if worker.message]
    taken = {known._replace(ready=True) for known in (*state.messages, *held)}
    while message in taken:
        message = message._replace(number=message.number + 1)
    return state._replace(messages=tuple(sorted((*state.messages, message))))
