"""The whole protocol: all steps from a state, and the laws held against each."""

import logging
from collections.abc import Collection, Iterator
from contextlib import contextmanager

from tests.model import laws
from tests.model.border import Border
from tests.model.bounds import Bounds
from tests.model.edits import Edit, functions_edited
from tests.model.laws import Law
from tests.model.nature import holds_end, messages_come_again, the_lease_ends, time_passes
from tests.model.outside import fresh_ids_from
from tests.model.replicas import replica_steps
from tests.model.search import Found, Search, Step
from tests.model.state import State, renumbered
from tests.model.workers import worker_steps
from tests.model.world import World


def explore(bounds: Bounds, edits: Collection[Edit] = (), heed: Collection[Law] = tuple(Law)) -> Found:
    """Explore all states within ``bounds``, of a protocol without the guards that ``edits`` remove."""
    border = Border()
    with silence(), functions_edited(edits), fresh_ids_from(border):
        world = World(bounds, border, edits, heed)

        def check_rest(state: State) -> None:
            for law in laws.of_rest(state, world.effects, intents=world.has_intents(state)):
                world.broken(law)

        return Search(world.start(), lambda state: _steps_from(world, state), check_rest).run()


@contextmanager
def silence() -> Iterator[None]:
    """Log nothing: what goes wrong goes wrong thousands of times."""
    logging.disable(logging.CRITICAL)
    try:
        yield
    finally:
        logging.disable(logging.NOTSET)


def _steps_from(world: World, state: State) -> Iterator[Step[State]]:
    faults = []
    for step in _all_steps(world, state):
        step = step._replace(state=renumbered(step.state))
        if step.fault:
            faults.append(step)
        elif step.state != state:
            yield step
    yield from faults


def _all_steps(world: World, state: State) -> Iterator[Step[State]]:
    yield from messages_come_again(world, state)
    yield from holds_end(world, state)
    for at in reversed(range(len(state.workers))):  # those that are at work first
        if at == 0 or state.workers[at] != state.workers[at - 1]:
            yield from worker_steps(world, state, at)
    for at in range(len(state.replicas)):
        if at == 0 or state.replicas[at] != state.replicas[at - 1]:
            yield from replica_steps(world, state, at)
    yield from the_lease_ends(world, state)
    yield from time_passes(world, state)
