"""What must hold: the guarantees of the documents, as far as they can be told from one step or one state."""

from collections.abc import Iterator, Sequence
from enum import StrEnum

from tests.model.state import State, Task


class Law(StrEnum):
    """The guarantees, and the sentence of each that a violation breaks."""

    DECIDED_ONCE = "G1: no instant is decided twice"
    NOT_AHEAD = "G1: no instant is decided before it is due"
    DECIDED = "G1: in the end every instant is decided"
    COMPLETED_ONCE = "G2: a body completes again only where the documents say so"
    ONE_MESSAGE = "G2: of several messages of one fire only one takes effect"
    ENQUEUED = "G2: in the end no intent is stranded"
    COMPLETED = "G2: in the end every fire has been worked off"
    SKIPPED = "G1: what is on record as skipped was not worked off"
    FENCED = "G3: a write with a token that is not the lease's changes nothing"
    CLAIMED_WITH_LEASE = "G4: nobody claims while the lease is not his"
    TRUSTED = "G4: nobody claims or publishes without having asked his trust"
    BELIEF = "G4: nobody trusts a lease that is not his, unless somebody meddled with it or cut his connection"
    RISES = "terms rise"
    RECOVERS = "G5: what recovers comes to an end"


class Violation(Exception):
    """A law is broken: by a step, which is said then, or by a state."""

    def __init__(self, law: Law, step: str = "") -> None:
        super().__init__(law.value)
        self.law = law
        self.step = step


def of_decisions(fire: Task) -> Law | None:
    """Return the law that is broken by what was decided of one instant."""
    return Law.DECIDED_ONCE if len([outcome for outcome in fire.decided if outcome != "ended"]) > 1 else None


def of_completions(task: Task) -> Law | None:
    """Return the law that is broken by how often a body completed."""
    if len(set(task.completed)) > 1:
        return Law.ONE_MESSAGE
    return Law.COMPLETED_ONCE if len(task.completed) > 1 + task.excused else None


def of_rest(state: State, effects: Sequence[Sequence[int]], *, intents: bool) -> Iterator[Law]:
    """Yield the laws that are broken by a world in which nothing moves any more.

    ``effects`` says of each fire which tasks complete when it takes effect.
    """
    fires = state.tasks[: len(effects)]
    if not all(fire.decided for fire in fires):
        yield Law.DECIDED
    if intents:
        yield Law.ENQUEUED
    worked_off = [all(state.tasks[task].completed for task in tasks) for tasks in effects]
    for fire, done in zip(fires, worked_off, strict=True):
        if "ended" in fire.decided and done:
            yield Law.SKIPPED
        elif ("fired" in fire.decided) != done and "ended" not in fire.decided:
            yield Law.COMPLETED
    if state.messages:
        yield Law.COMPLETED
