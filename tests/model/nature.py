"""What happens by itself: time goes on, keys end, messages come again, and somebody meddles with the lease."""

from collections.abc import Iterator

from tests.model.bounds import CLOCK_AHEAD
from tests.model.search import Step
from tests.model.state import State
from tests.model.world import LAST_MINUTE, World, spent, with_task


def time_passes(world: World, state: State) -> Iterator[Step[State]]:
    """An instant comes at each hour; some time passes before only where a replica waits for it."""
    now = world.now(state.hour, state.minute)
    if any(replica.trusted and world.wakes_soon(replica.engine, now) for replica in state.replicas):
        yield Step("a minute passes", False, state._replace(minute=state.minute + 1))
    if world.may(state, CLOCK_AHEAD) and state.hour < world.bounds.instants and state.minute < LAST_MINUTE:
        yield Step(f"instant {state.hour + 1} is a minute away", False, state._replace(minute=LAST_MINUTE))
    if state.hour < world.bounds.instants:
        yield Step(f"instant {state.hour + 1} is due", False, state._replace(hour=state.hour + 1, minute=0))


def the_lease_ends(world: World, state: State) -> Iterator[Step[State]]:
    """The lease ends where its holder could not renew it: not while that is trusted, unless somebody meddles."""
    token, key = world.holder(state.server), world.parts.keys.lease
    if token is None:
        return
    free = state._replace(server=world.server.changed(state.server, "DEL", key))
    if not any(replica.trusted and world.terms[replica.term].token == token for replica in state.replicas):
        yield Step("the lease ends", False, free)
        return
    if world.may(state, "the lease is deleted"):
        yield Step("the lease is deleted", True, spent(free))
    if world.may(state, "the lease is stolen"):
        stolen = world.server.changed(state.server, "SET", key, "thief 3 1 run host")
        yield Step("the lease is stolen", True, spent(state)._replace(server=stolen))


def messages_come_again(world: World, state: State) -> Iterator[Step[State]]:
    """A message comes again where its worker died; as a fault also where it works on (the visibility timeout)."""
    for at, message in enumerate(state.messages):
        if message.ready:
            continue
        fault = any(worker.message == message for worker in state.workers)
        if fault and not world.may(state, "a message is delivered again"):
            continue
        messages = (*state.messages[:at], message._replace(ready=True), *state.messages[at + 1 :])
        after = (spent(state) if fault else state)._replace(messages=tuple(sorted(messages)))
        yield Step(f"{message.delivery} of task {message.task + 1} comes again", fault, after)


def holds_end(world: World, state: State) -> Iterator[Step[State]]:
    """A hold ends where its worker died; as a fault also where that is paused or cut off for longer than it."""
    for task in range(len(state.tasks)):
        marker = world.marker(state, task)
        if marker.get("hold", "0") == "0":
            continue
        fault = any(
            worker.message and worker.message.task == task and worker.run == marker["run"] for worker in state.workers
        )
        if fault and not world.may(state, "a worker is cut off"):
            continue
        key = world.parts.keys.marker(world.task_ids[task])
        after = state._replace(server=world.server.changed(state.server, "HSET", key, "hold", "0"))
        if fault:
            after = spent(with_task(after, task, excused=state.tasks[task].excused + 1))
        yield Step(f"the hold on task {task + 1} ends", fault, after)
