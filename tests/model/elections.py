"""The election by itself, in time: who holds the lease, and who believes that he does.

Here a second may pass between any two calls, and between a call's being made and its reaching the server: a replica may
be as late as it likes. The lease ends by its TTL, and a standby sees whose connection the server lists.
"""

from collections.abc import Collection, Iterator
from datetime import timedelta
from typing import Any

import pytest

from celery_leased_beat.election import contender as contending
from celery_leased_beat.election.belief import MARGIN, Belief
from celery_leased_beat.election.contender import Contender
from celery_leased_beat.engine import Term
from celery_leased_beat.store import Keys, Lease, ServerClock
from tests.model.border import LOST, Border, Ended, Threads
from tests.model.candidates import Candidate, Moment, Release
from tests.model.edits import Edit, functions_edited
from tests.model.explore import silence
from tests.model.kept import Kept
from tests.model.laws import Law, Violation
from tests.model.outside import Connection, fresh_ids_from
from tests.model.parts import NAMESPACE, REPLICA, TOKEN, Unopposed
from tests.model.programs import Renewal, Tried, Try
from tests.model.scripts import Scripts
from tests.model.search import Found, Search, Step
from tests.model.server import Command, Server
from tests.model.state import NONE
from tests.model.world import LAST_TERM

TTL = timedelta(seconds=5)
#: In milliseconds; a moment counts in seconds from here.
START = 1_767_225_600_000


Change = tuple[str, Moment, Candidate]


class Elections:
    """All that may happen within ``seconds``, with so many ``faults``."""

    def __init__(
        self, border: Border, edits: Collection[Edit], *, replicas: int, seconds: int, faults: int, strict: bool
    ) -> None:
        self._strict = strict
        self._seconds = seconds
        self._keys = Keys(NAMESPACE)
        self._threads = Threads(border)
        self._server = Server(Scripts(edits), self._keys, timed=True)
        connection: Any = Connection(border)
        self._lease = Lease(connection, self._keys, TTL, ServerClock())
        self._contenders = Kept(connection, self._keys, self._lease._clock, self._lease._scripts, timed=True)
        self._beliefs = Kept(timed=True)
        self._terms: dict[int, Term] = {}
        with border.replay((), TOKEN):
            contender = Contender(self._lease, REPLICA, Unopposed(), trusted_for=TTL * (1 - MARGIN))
        self._new = (self._contenders.keep(contender), self._beliefs.keep(Belief(TTL.total_seconds())))
        candidates = tuple(Candidate(*self._new, client=number + 1) for number in range(replicas))
        server = self._server.changed(0, "SET", self._keys.term, f"{LAST_TERM} run - -")
        self.start = Moment(0, server, candidates, clients=replicas, tokens=0, highest=0, faults=faults)

    def steps_from(self, moment: Moment) -> Iterator[Step[Moment]]:
        """Yield all steps; raises ``Violation`` where one leads to a belief that is wrong."""
        for step in self._steps(moment):
            self._check(step)
            yield step

    def _check(self, step: Step[Moment]) -> None:
        moment = step.state
        held = self._held(moment)
        for candidate in moment.candidates:
            term = self._beliefs.get(candidate.belief).term(float(moment.now))
            if term is None:
                continue
            if moment.now > candidate.ends or (not candidate.disturbed and held != str(candidate.token)):
                raise Violation(Law.BELIEF, step.label)

    def _held(self, moment: Moment) -> str | None:
        lease = self._server.get(moment.server, self._keys.lease, now=_milliseconds(moment))
        return lease.split()[0] if lease else None

    def _steps(self, moment: Moment) -> Iterator[Step[Moment]]:
        for at, candidate in enumerate(moment.candidates):
            for ways in (self._go_on, self._fail):
                for label, after, changed in ways(moment, candidate):
                    candidates = (*after.candidates[:at], changed, *after.candidates[at + 1 :])
                    after = after._replace(candidates=candidates)
                    if after != moment:
                        yield Step(f"replica {at + 1} {label}", after.faults < moment.faults, after)
        if moment.faults and self._held(moment):
            deleted = self._server.changed(moment.server, "DEL", self._keys.lease)
            candidates = tuple(one._replace(disturbed=bool(one.token)) for one in moment.candidates)
            yield Step("the lease is deleted", True, _spent(moment)._replace(server=deleted, candidates=candidates))
        if moment.now < self._seconds:
            yield Step("a second passes", False, moment._replace(now=moment.now + 1))

    def _go_on(self, moment: Moment, candidate: Candidate) -> Iterator[Change]:
        if candidate.in_vain:
            # A call without an answer costs the connection, and the lease may name that one.
            unconnected = candidate._replace(in_vain=False, client=0, disturbed=True)
            yield "gives up waiting for an answer", *self._answered(moment, unconnected, LOST)
        elif candidate.call != NONE:
            yield from self._arrive(moment, candidate)
        elif candidate.token:
            if self._is_as_new(moment, candidate):
                return
            yield "asks to renew", *self._connected(moment, candidate, Renewal(self._lease, str(candidate.token)))
        else:
            yield from self._look(moment, candidate)

    def _is_as_new(self, moment: Moment, candidate: Candidate) -> bool:
        """Return whether a renewal now would change nothing, unless its connection broke."""
        belief = self._beliefs.get(candidate.belief)
        as_new = belief.term(moment.now + TTL.total_seconds() * (1 - MARGIN) - 0.1) is not None
        return as_new and not candidate.disturbed

    def _connected(self, moment: Moment, candidate: Candidate, program: Any) -> tuple[Moment, Candidate]:
        """Return how things stand once the candidate has made the first call of ``program``."""
        if not candidate.client:
            moment = moment._replace(clients=moment.clients + 1)
            candidate = candidate._replace(client=moment.clients)
        call = self._threads.begin(program)
        return moment, candidate._replace(call=call, called_at=moment.now)

    def _look(self, moment: Moment, candidate: Candidate) -> Iterator[Change]:
        """A standby looks, and makes its request where it may; a request without an answer it makes again."""
        moment, candidate = self._connected(
            moment, candidate, Try(self._contenders, candidate.contender, watching=True)
        )
        call = candidate.call
        if not candidate.asked:
            *commands, listing = self._threads.point(call).content
            replies = self._server.execute(moment.server, _milliseconds(moment), tuple(commands)).replies
            call = self._tell_time(moment, self._threads.answer(call, (*replies, self._listing(moment, listing))))
        point = self._threads.point(call)
        if isinstance(point, Ended):
            yield "looks", moment, candidate._replace(contender=point.result.contender, call=NONE, called_at=0)
            return
        token = candidate.asked or moment.tokens + 1
        yield (
            "asks for the lease",
            moment._replace(tokens=max(token, moment.tokens)),
            candidate._replace(call=call, asked=token),
        )

    def _listing(self, moment: Moment, command: Command) -> Any:
        """Return the reply to the last command of a look, which may list a connection."""
        if command[0] != "CLIENT":
            return self._server.execute(moment.server, _milliseconds(moment), (command,)).replies[0]
        client = str(command[-1])
        return f"id={client} " if client in {str(candidate.client) for candidate in moment.candidates} else ""

    def _arrive(self, moment: Moment, candidate: Candidate) -> Iterator[Change]:
        """The call reaches the server, and its answer comes; or one of the two does not."""
        words = {TOKEN: str(candidate.asked), "7": str(candidate.client)}
        content = self._threads.point(candidate.call).content
        commands = tuple(tuple(words.get(word, word) for word in command) for command in content)
        done = self._server.execute(moment.server, _milliseconds(moment), commands)
        after = moment._replace(server=done.state)
        if self._held(after) in (words[TOKEN], str(candidate.token)):
            ends = self._server.ends(after.server, self._keys.lease)
            candidate = candidate._replace(ends=(ends - START) // 1000)
        name = self._server.script_of(commands[0])[0]
        yield name, *self._answered(after, candidate, done.replies)
        if moment.faults:
            waiting = candidate._replace(in_vain=True)
            yield f"{name}, the reply is lost", _spent(after), waiting
            yield f"{name}, the request is lost", _spent(moment), waiting

    def _answered(self, moment: Moment, candidate: Candidate, answer: Any) -> tuple[Moment, Candidate]:
        result = self._threads.point(self._tell_time(moment, self._threads.answer(candidate.call, answer))).result
        called_at = float(candidate.called_at)
        candidate = candidate._replace(call=NONE, called_at=0)
        if isinstance(result, Tried):
            return self._tried(moment, candidate, result, lost=answer == LOST)
        if result:
            return moment, self._believes(candidate, self._terms[candidate.token], called_at)._replace(disturbed=False)
        lost_lease = result is False
        belief = self._beliefs.copy(candidate.belief)
        belief.end()
        candidate = candidate._replace(belief=self._beliefs.keep(belief))
        return moment, candidate._replace(token=0, disturbed=False) if lost_lease else candidate

    def _tried(self, moment: Moment, candidate: Candidate, tried: Tried, *, lost: bool) -> tuple[Moment, Candidate]:
        token = candidate.asked
        candidate = candidate._replace(contender=tried.contender, asked=token if lost else 0)
        if tried.won is None:
            return moment, candidate
        term = tried.won.term
        if term.number <= moment.highest:
            raise Violation(Law.RISES, "acquire")
        self._terms[token] = term
        candidate = self._believes(candidate._replace(token=token), term, tried.won.sent)
        if self._strict:
            candidate = candidate._replace(disturbed=False)
        return moment._replace(highest=term.number), candidate

    def _believes(self, candidate: Candidate, term: Term, sent: float) -> Candidate:
        belief = self._beliefs.copy(candidate.belief)
        belief.renew(term, sent)
        return candidate._replace(belief=self._beliefs.keep(belief))

    def _tell_time(self, moment: Moment, thread: int) -> int:
        while self._threads.point(thread).kind == "time":
            thread = self._threads.answer(thread, float(moment.now))
        return thread

    def _fail(self, moment: Moment, candidate: Candidate) -> Iterator[Change]:
        if not moment.faults or not (candidate.token or candidate.asked):
            return  # nobody notices what befalls a mere standby
        spent = _spent(moment)
        new = Candidate(*self._new, client=moment.clients + 1)
        yield "crashes and is started again", spent._replace(clients=moment.clients + 1), new
        if candidate.client and candidate.call == NONE:
            yield "loses its connection", spent, candidate._replace(client=0, disturbed=True)
        if candidate.token and candidate.call == NONE:
            call = self._threads.begin(Release(self._lease, str(candidate.token)))
            yield "stops", spent, candidate._replace(call=call, token=0, belief=self._new[1], disturbed=False)


def elect(
    edits: Collection[Edit] = (), *, replicas: int = 2, seconds: int = 8, faults: int = 1, strict: bool = False
) -> Found:
    """Explore all that may happen in an election without the guards that ``edits`` remove.

    Where the connection of a holder broke, its lease may end before its belief, until it has renewed that. It is
    ``strict`` to allow that no longer once a second request has won what the first one asked for.
    """
    border = Border()
    with silence(), functions_edited(edits), fresh_ids_from(border), pytest.MonkeyPatch.context() as patch:
        patch.setattr(contending, "boottime", lambda: border.ask("time"))
        elections = Elections(border, edits, replicas=replicas, seconds=seconds, faults=faults, strict=strict)
        return Search(elections.start, elections.steps_from).run()


def _milliseconds(moment: Moment) -> int:
    return START + moment.now * 1000


def _spent(moment: Moment) -> Moment:
    return moment._replace(faults=moment.faults - 1)
