"""The verdict on the workers: each fire's bodies came to their end once.

What docs/guarantees.md does not promise is allowed for the very run that the fault met, and for no other:

- a body completes again where its process died between the body's end and the marker's ``done``, where it stood still
  for longer than its hold, or where the marker was lost with the server's data;
- a fire that was claimed and not yet enqueued is lost with the server's data;
- a message is lost with the connection over which a worker fetched it: Celery's transport for Redis takes a message off
  its queue first and notes it as unacknowledged then. Each broken connection loses one at most. RabbitMQ loses none.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import pairwise

from celery_leased_beat.plan import Outcome
from tests.chaos.decisions import Ruling
from tests.chaos.evidence import FOREVER, Era, Evidence
from tests.chaos.notes import Note, What
from tests.chaos.programme import all_entries, tasks_of

#: A hold lasts 15 s and is renewed every 5: one that stands still for longer than this may lose it.
HOLD = 10.0
#: A message that nobody could fetch waits for the broker and the workers to be there; then it is fetched, in seconds.
FETCHED_WITHIN = 60.0
#: The driver notes a break just before it makes it, and looks at no message first.
EARLY = 0.5


@dataclass(frozen=True)
class Fired:
    """A fire that was decided at ``at``; ``given_up`` where it was recorded later as not enqueued."""

    id: str
    entry: str
    instant: datetime
    at: float
    given_up: bool = False


@dataclass(frozen=True)
class Run:
    """One run of a body that came to its end; ``over`` is when its marker was seen as done."""

    begun: Note
    ended: Note
    over: float

    def __str__(self) -> str:
        note = self.begun
        return (
            f"{note.entry} {note.handler} {note.task} by {note.pid} of {note.parent} from {note.at:.3f} to "
            f"{self.ended.at:.3f}, over {self.over:.3f}"
        )


def fires_of(evidence: Evidence) -> Mapping[str, Fired]:
    """Return all fires by id, of all eras; one that was decided again counts from the first time."""
    fires: dict[str, Fired] = {}
    given_up: set[str] = set()
    for era in evidence.eras:
        for record in era.snapshot.records:
            if record.fire_id and record.outcome == Outcome.FIRED:
                fire = Fired(record.fire_id, record.entry, record.last, record.at.timestamp())
                fires.setdefault(fire.id, fire)
            elif record.fire_id:
                given_up.add(record.fire_id)
    return {name: replace(fire, given_up=name in given_up) for name, fire in fires.items()}


def judge_runs(evidence: Evidence) -> Iterator[Ruling]:
    """Yield what is missing, doubled or strange, and what only a documented limit allows."""
    fires = fires_of(evidence)
    entries = {key.name: entry for key, entry in all_entries().items()}
    expected = {task: fire for fire in fires.values() for task in tasks_of(entries[fire.entry], fire.id)}
    runs = runs_of(evidence.notes)
    losses = Losses(evidence)
    for task, fire in expected.items():
        if task not in runs and not fire.given_up and fire.at < evidence.until:
            yield Ruling("missing", losses.tell(fire, task), losses.why(fire, task))
        if task in runs and fire.given_up:
            yield Ruling("given up and run", f"{fire.entry} {fire.id} {task}", "its publish had no answer")
    for task, found in runs.items():
        if task not in expected:
            yield Ruling("strange", f"nobody decided {found[0].ended}")
        for first, second in pairwise(found):
            yield Ruling("doubled", f"{first}; {second}", _why_doubled(evidence, first, second))


class Losses:
    """Says by which limit a task may have no run. Each broken connection explains one lost message, and no more."""

    def __init__(self, evidence: Evidence) -> None:
        self._evidence = evidence
        self._breaks = sorted(evidence.breaks)
        self._lost: set[str] = set()

    def why(self, fire: Fired, task: str) -> str:
        evidence = self._evidence
        for era in evidence.eras[:-1]:
            if fire.id in era.intents and (why := self._why_forgotten(fire, era)):
                return f"it was lost with the server's data before it was enqueued ({why})"
        message = task if fire.id in evidence.succeeded else fire.id
        if evidence.fetched_before_noted and message not in evidence.received and self._take(message, fire.at):
            return "its message was lost with the connection over which it was fetched"
        return ""

    def _why_forgotten(self, fire: Fired, era: Era) -> str:
        """Say why the holder did not enqueue what it alone still knew of."""
        if (fire.entry, fire.instant) in self._evidence.given_up:
            return "past its grace"
        return self._evidence.why_idle(era)

    def tell(self, fire: Fired, task: str) -> str:
        """Say how far the messages of ``task`` came."""
        known = {"received": self._evidence.received, "succeeded": self._evidence.succeeded}
        steps = [f"{what} {step}" for what, name in (("fire", fire.id), ("task", task))
                 for step, names in known.items() if name in names]  # fmt: skip
        return f"{fire.entry}, fire {fire.id} decided at {fire.at:.3f}, task {task}: {', '.join(steps)}"

    def _take(self, message: str, since: float) -> bool:
        """Take a broken connection for ``message``, unless it has one already."""
        if message not in self._lost:
            fitting = (one for one in self._breaks if since - EARLY <= one[0] <= since + FETCHED_WITHIN)
            if (found := next(fitting, None)) is None:
                return False
            self._breaks.remove(found)
            self._lost.add(message)
        return True


def runs_of(notes: Sequence[Note]) -> Mapping[str, list[Run]]:
    """Return the runs that came to their end, by task id, in order of their begins."""
    begun: dict[tuple[str, int], Note] = {}
    ended: dict[str, list[tuple[Note, Note]]] = defaultdict(list)
    over: dict[tuple[str, int], float] = {}
    for note in notes:
        key = note.task, note.pid
        if note.what == What.BEGUN:
            begun[key] = note
        elif note.what == What.ENDED:
            ended[note.task].append((begun[key], note))
        else:
            over.setdefault(key, note.at)
    return {
        task: sorted((Run(first, last, over.get((task, last.pid), FOREVER)) for first, last in pairs),
                     key=lambda run: run.begun.at)
        for task, pairs in ended.items()
    }  # fmt: skip


def _why_doubled(evidence: Evidence, first: Run, second: Run) -> str:
    at = first.ended.at
    life = evidence.life_of(first.ended.parent, at) or evidence.life_of(first.ended.pid, at)
    died = life.dead_by(first.ended.pid) if life else FOREVER
    if first.ended.at <= died < first.over:
        return "its process was killed between the body's end and the marker's done"
    if any(first.begun.at <= lost <= second.begun.at for lost in evidence.losses):
        return "the marker was lost with the server's data"
    for trouble in evidence.troubles:
        is_its = life is not None and trouble.name == life.name and trouble.what == "paused"
        if is_its and trouble.ended - trouble.begun > HOLD and first.begun.at <= trouble.ended <= first.over:
            return "its process stood still for longer than its hold"
    return ""
