"""What a worker may do next: take a message, go on with its run, or die."""

from collections.abc import Iterator
from typing import Any

from tests.model import laws
from tests.model.border import LOST, Ended
from tests.model.parts import RENEW
from tests.model.programs import Work
from tests.model.search import Step
from tests.model.state import NONE, Message, State, Worker
from tests.model.world import World, spent, with_task

Change = tuple[str, State, Worker]


def worker_steps(world: World, state: State, at: int) -> Iterator[Step[State]]:
    """Yield what the worker ``at`` may do next, the ordinary course first."""
    worker, others = state.workers[at], (*state.workers[:at], *state.workers[at + 1 :])
    for label, after, changed in _begin(world, state) if worker.work == NONE else _go_on(world, state, worker):
        after = after._replace(workers=tuple(sorted((*others, changed))))
        yield Step(f"worker {at + 1}: {label}", after.faults < state.faults, after)


def _begin(world: World, state: State) -> Iterator[Change]:
    for message in state.messages:
        if message.ready:
            run, letter = _fresh_run(world, state, message.task), world.letters[message.letter]
            thread = world.threads.begin(Work(world.parts, letter, message.delivery, message.attempt, run))
            taken = message._replace(ready=False)
            worker, after = Worker(thread, taken, run), _moved(state, message, taken)
            what = f"takes {message.delivery} of task {message.task + 1}, attempt {message.attempt}"
            for label, later, changed in _call(world, after, worker, taken):
                yield f"{what}, {label}", later, changed


def _fresh_run(world: World, state: State, task: int) -> str:
    """Return a token that no run of this task has which anybody knows of."""
    known = {worker.run for worker in state.workers if worker.message and worker.message.task == task}
    known.add(world.marker(state, task).get("run", ""))
    return next(run for run in map("run {}".format, range(1, len(known) + 2)) if run not in known)


def _go_on(world: World, state: State, worker: Worker) -> Iterator[Change]:
    message = worker.message
    assert message
    if world.threads.point(worker.work).kind == "body":
        yield from _body(world, state, worker, message)
    else:
        yield from _call(world, state, worker, message)
    if world.may(state, "a worker dies"):
        yield "dies", _after_death(world, state, worker, message), Worker()


def _body(world: World, state: State, worker: Worker, message: Message) -> Iterator[Change]:
    """The body ends in one way or another; where its hold is over, it may be renewed first."""
    if _has_lost_hold(world, state, worker, message):
        renewing = worker._replace(work=world.threads.answer(worker.work, RENEW))
        for label, after, changed in _call(world, state, renewing, message):
            yield f"renews its hold, {label}", after, changed
    completed = tuple(sorted((*state.tasks[message.task].completed, message.publish)))
    after, what = with_task(state, message.task, completed=completed), f"completes the body of task {message.task + 1}"
    world.broken(laws.of_completions(after.tasks[message.task]), what)
    for label, later, changed in _ends(world, after, worker._replace(completed=True), message, None):
        yield f"{what}{label}", later, changed
    if world.may(state, "a body fails"):
        for label, later, changed in _ends(world, spent(state), worker, message, LOST):
            yield f"its body fails{label}", later, changed


def _has_lost_hold(world: World, state: State, worker: Worker, message: Message) -> bool:
    marker = world.marker(state, message.task)
    return (marker.get("run"), marker.get("state"), marker.get("hold")) == (worker.run, "running", "0")


def _call(world: World, state: State, worker: Worker, message: Message) -> Iterator[Change]:
    """Yield how the call may go at which the worker waits."""
    point = world.threads.point(worker.work)
    if point.kind == "commands":
        calls = world.commands(state, point.content)
    else:
        calls = world.publish(state, point.content, message)
    for label, after, answer in calls:
        for end, later, changed in _ends(world, after, worker, message, answer):
            yield f"{label}{end}", later, changed


def _ends(world: World, state: State, worker: Worker, message: Message, answer: Any) -> Iterator[Change]:
    """Yield how the worker goes on with this answer, up to its next call; what becomes of its message is part of it."""
    thread = world.threads.answer(worker.work, answer)
    kind = world.threads.point(thread).kind
    after = state
    if kind in ("acknowledge", "requeue"):
        if world.may(state, "a worker dies"):
            yield ", dies before its message is off its hands", _after_death(world, state, worker, message), Worker()
        thread = world.threads.answer(thread, None)
        if message in state.messages:  # else it was delivered again, and an acknowledgement of either copy is of both
            after = _moved(state, message, message._replace(ready=True) if kind == "requeue" else None)
    over = isinstance(world.threads.point(thread), Ended)
    yield f", {kind}" if after is not state else "", after, Worker() if over else worker._replace(work=thread)


def _moved(state: State, message: Message, moved: Message | None) -> State:
    messages = [other for other in state.messages if other != message]
    return state._replace(messages=tuple(sorted([*messages, *([moved] if moved else [])])))


def _after_death(world: World, state: State, worker: Worker, message: Message) -> State:
    """Between the body's end and the marker's ``done`` a death lets the body complete once more."""
    state = spent(state)
    if not worker.completed or world.marker(state, message.task).get("state") == "done":
        return state
    return with_task(state, message.task, excused=state.tasks[message.task].excused + 1)
