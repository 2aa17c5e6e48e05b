"""What a replica may do next: its election and its engine, each at its own pace."""

from collections.abc import Iterator
from dataclasses import replace

from celery_leased_beat.engine import Term
from tests.model.border import LOST, Ended, Request
from tests.model.bounds import CLOCK_AHEAD
from tests.model.candidates import Release
from tests.model.laws import Law
from tests.model.parts import TOKEN
from tests.model.programs import Renewal, Try, Turn
from tests.model.search import Step
from tests.model.state import NONE, Replica, State
from tests.model.world import LAST_MINUTE, World, spent

Change = tuple[str, State, Replica]


def replica_steps(world: World, state: State, at: int) -> Iterator[Step[State]]:
    """Yield what the replica ``at`` may do next, the ordinary course first."""
    replica, others = state.replicas[at], (*state.replicas[:at], *state.replicas[at + 1 :])
    elect = _try if replica.term == NONE else _renew
    for ways in (elect, _turn, _fail, _hand_over):
        for label, after, changed in ways(world, state, replica):
            if after is not state or changed != replica:
                after = after._replace(replicas=tuple(sorted((*others, changed))))
                yield Step(f"replica {at + 1}: {label}", after.faults < state.faults, after)


def _try(world: World, state: State, replica: Replica) -> Iterator[Change]:
    """A standby looks, and asks for the lease where it may; without an answer it asks again with the same token."""
    threads = world.threads
    thread = threads.begin(Try(world.parts.contenders, replica.contender))
    if not replica.asked:
        look = threads.point(thread).content
        thread = threads.answer(thread, world.outcome(state.server, world.now(state.hour, state.minute), look).replies)
    point = threads.point(thread)
    if isinstance(point, Ended):
        yield "sees the lease", state, replica._replace(contender=point.result.contender)
        return
    token = replica.asked or state.tokens + 1
    commands = tuple(tuple(str(token) if word == TOKEN else word for word in command) for command in point.content)
    for label, after, answer in world.commands(state._replace(tokens=max(token, state.tokens)), commands):
        tried = threads.point(threads.answer(thread, answer)).result
        changed = replica._replace(contender=tried.contender, asked=token if answer == LOST else 0)
        if tried.won is not None:
            term = world.term_number(replace(tried.won.term, token=str(token)))
            changed = changed._replace(term=term, trusted=True)
        yield label, after, changed


def _renew(world: World, state: State, replica: Replica) -> Iterator[Change]:
    """A holder renews. While it is trusted and has the lease that would change nothing here."""
    token = world.terms[replica.term].token
    if replica.trusted and world.holder(state.server) == token:
        return
    threads = world.threads
    thread = threads.begin(Renewal(world.parts.lease, token))
    done = world.outcome(state.server, world.now(state.hour, state.minute), threads.point(thread).content)
    ours = threads.point(threads.answer(thread, done.replies)).result
    yield (
        "renew",
        state._replace(server=done.server),
        replica._replace(trusted=ours, term=replica.term if ours else NONE),
    )


def _turn(world: World, state: State, replica: Replica) -> Iterator[Change]:
    """The engine begins a turn, or goes on in it: from where it asks its trust to the end of the call that follows."""
    if replica.turn != NONE:
        yield from _goes_on(world, state, replica, replica.turn)
        return
    turn = Turn(world.parts, replica.engine, world.now(state.hour, state.minute))
    yield from _goes_on(world, state, replica, world.threads.begin(turn))
    if state.minute == LAST_MINUTE and world.may(state, CLOCK_AHEAD):
        early = replace(turn, now=world.now(state.hour + 1, 0))
        for label, after, changed in _goes_on(world, spent(state), replica, world.threads.begin(early)):
            yield f"its clock is ahead, {label}", after, changed


def _goes_on(world: World, state: State, replica: Replica, thread: int) -> Iterator[Change]:
    thread, trusted = _until_call(world, thread, replica)
    point = world.threads.point(thread)
    if isinstance(point, Ended):
        yield "turn", state, _settled(world, replica, thread)
        return
    if trusted and world.may(state, "a replica is paused"):
        paused = replica._replace(turn=thread, late=True, trusted=False)
        yield f"is paused before it can {_name(world, point)}", spent(state), paused
    if not (trusted or replica.late) and _name(world, point) in ("claim", "publish"):
        world.broken(Law.TRUSTED, _name(world, point))
    calls = world.publish if point.kind == "publish" else world.commands
    for label, after, answer in calls(state, point.content):
        yield label, after, _settled(world, replica, world.threads.answer(thread, answer))


def _until_call(world: World, thread: int, replica: Replica) -> tuple[int, bool]:
    """Answer how it stands with the trust, up to the next call; return whether it was asked last and was there."""
    term: Term | None = world.terms[replica.term] if replica.trusted else None
    asked = False
    while world.threads.point(thread).kind == "trust":
        thread, asked = world.threads.answer(thread, term), term is not None
    return thread, asked


def _settled(world: World, replica: Replica, thread: int) -> Replica:
    """Return the replica with its turn at ``thread``, or at rest."""
    replica = replica._replace(turn=thread, late=False)
    point = world.threads.point(thread)
    if point.kind == "fenced":
        if replica.term != NONE and point.content == world.terms[replica.term]:
            replica = replica._replace(trusted=False)
        return _settled(world, replica, world.threads.answer(thread, None))
    return replica._replace(turn=NONE, engine=point.result) if isinstance(point, Ended) else replica


def _fail(world: World, state: State, replica: Replica) -> Iterator[Change]:
    if world.may(state, "a replica crashes"):
        yield "crashes and is started again", spent(state), world.new_replica
    if replica.trusted and world.may(state, "a replica is paused"):
        yield "is paused, or cut off, until its trust is over", spent(state), replica._replace(trusted=False)


def _hand_over(world: World, state: State, replica: Replica) -> Iterator[Change]:
    """A trusted holder releases its lease, wherever its engine is, and goes on as a standby."""
    if replica.trusted and world.may(state, "a lease is handed over"):
        thread = world.threads.begin(Release(world.parts.lease, world.terms[replica.term].token))
        release = world.threads.point(thread).content
        done = world.outcome(state.server, world.now(state.hour, state.minute), release)
        stands_by = replica._replace(term=NONE, trusted=False)
        yield "hands the lease over", spent(state._replace(server=done.server)), stands_by


def _name(world: World, point: Request) -> str:
    return "publish" if point.kind == "publish" else world.name(point.content)
