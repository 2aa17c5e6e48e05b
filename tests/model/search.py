"""All states that can be reached from a first one, breadth first."""

import itertools
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from typing import Generic, NamedTuple, TypeVar

from tests.model.laws import Law, Violation

Reached = TypeVar("Reached", bound=Hashable)


class Step(NamedTuple, Generic[Reached]):
    """What happens, whether it is a fault, and the state after it."""

    label: str
    fault: bool
    state: Reached


@dataclass(frozen=True)
class Found:
    """What a search came to: a broken law and a shortest way to it, or none in any state."""

    states: int
    steps: int
    broken: Law | None = None
    trace: tuple[str, ...] = ()

    def __str__(self) -> str:
        what = f"{self.states} states, {self.steps} steps: {self.broken or 'every law holds'}"
        return "\n".join([what, *(f"  {number}. {label}" for number, label in enumerate(self.trace, 1))])


class Search(Generic[Reached]):
    """Takes all steps from every state. Both callables raise ``Violation`` where a law is broken.

    ``steps_from`` gives steps that change something; those that are no faults come first, in the order of a quick
    recovery. ``check_rest`` is called with each state that has none of those; without it nothing has to come to rest.
    """

    def __init__(
        self, start: Reached, steps_from: Callable[[Reached], Iterable[Step[Reached]]],
        check_rest: Callable[[Reached], None] | None = None,
    ) -> None:  # fmt: skip
        self._steps_from = steps_from
        self._check_rest = check_rest
        self._numbers: dict[Reached, int] = {start: 0}
        self._states: list[Reached] = [start]
        self._parents: list[int] = [0]
        #: By which state each one recovers, itself where nothing moves any more.
        self._recovers: list[int] = []
        self._steps = 0

    def run(self) -> Found:
        for at in itertools.count():
            if at == len(self._states):
                break
            try:
                self._visit(at)
            except Violation as violation:
                return self._found(at, violation)
        endless = self._endless() if self._check_rest else None
        if endless is not None:
            return self._found(endless, Violation(Law.RECOVERS))
        return Found(len(self._states), self._steps)

    def _visit(self, at: int) -> None:
        state = self._states[at]
        recovers = at
        for step in self._steps_from(state):
            self._steps += 1
            number = self._numbers.get(step.state)
            if number is None:
                number = self._numbers[step.state] = len(self._states)
                self._states.append(step.state)
                self._parents.append(at)
            if recovers == at and not step.fault:
                recovers = number
        self._recovers.append(recovers)
        if recovers == at and self._check_rest:
            self._check_rest(state)

    def _endless(self) -> int | None:
        """Return a state from which the recovery never comes to rest, None where there is none."""
        rests = [False] * len(self._recovers)
        for start in range(len(rests)):
            path: dict[int, None] = {}
            at = start
            while not rests[at]:
                if at in path:
                    return start
                path[at] = None
                if self._recovers[at] == at:
                    break
                at = self._recovers[at]
            for passed in path:
                rests[passed] = True
        return None

    def _found(self, at: int, violation: Violation) -> Found:
        path = [self._states[at]]
        while at:
            at = self._parents[at]
            path.append(self._states[at])
        labels = [self._label(before, after) for before, after in itertools.pairwise(reversed(path))]
        last = [violation.step] if violation.step else []
        return Found(len(self._states), self._steps, violation.law, (*labels, *last))

    def _label(self, before: Reached, after: Reached) -> str:
        return next(step.label for step in self._steps_from(before) if step.state == after)
