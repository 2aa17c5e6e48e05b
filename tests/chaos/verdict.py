"""The verdict on a run: what is wrong with it, and which documented limits it made use of."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tests.chaos.decisions import Ruling, judge_decisions
from tests.chaos.evidence import Evidence, Life
from tests.chaos.programme import VERSIONS, all_entries, tasks_of
from tests.chaos.runs import fires_of, judge_runs, runs_of

#: A process has to live for so many seconds to tell of its memory; it is warm in the second half of its life.
MEASURED = 60.0
#: A warm process may grow by so much; what leaks with each of some ten fires a second passes it within minutes.
GROWTH = 12 * 1024 * 1024
#: A replica that is told to end has two seconds for its lease, the rest is Python's own end on a machine that is busy.
ENDS_WITHIN = 30.0
#: The fires of so many seconds before a loss of data may have left their markers before it or after it.
UNDERWAY = 120.0


@dataclass(frozen=True)
class Verdict:
    """``wrong`` is empty where all is well. ``figures`` are for people."""

    wrong: Sequence[Ruling]
    allowed: Sequence[Ruling]
    figures: str

    def __str__(self) -> str:
        return "\n".join([
            self.figures,
            *(f"allowed {one.what}: {one.text}" for one in self.allowed if one.what in ("missing", "doubled")),
            *(f"allowed {count} x {what}: {why}"
              for (what, why), count in Counter((one.what, one.allowed) for one in self.allowed).items()),
            *(f"WRONG {one.what}: {one.text}" for one in self.wrong[:40]),
        ])  # fmt: skip


def judge(evidence: Evidence) -> Verdict:
    """Look at the decisions, the runs, the processes, their memory and the keys."""
    judges = (judge_decisions, judge_runs, judge_processes, judge_memory, judge_keys)
    rulings = [ruling for judge in judges for ruling in judge(evidence)]
    wrong = [ruling for ruling in rulings if not ruling.allowed]
    return Verdict(wrong, [ruling for ruling in rulings if ruling.allowed], _figures(evidence, wrong))


def judge_processes(evidence: Evidence) -> Iterator[Ruling]:
    """No process ends that we did not end, and a replica that is told to end does so soon and without an error."""
    for line in evidence.errors:
        yield Ruling("error in a replica", line)
    for life in evidence.lives:
        if life.code is not None and not life.dismissed:
            text = f"{life.name} {life.pid} with {life.code}"
            yield Ruling("ended by itself", text, evidence.excuses.get(life.key, ""))
        if life.kind == "replica" and life.dismissed and not _killed(life):
            told = min(at for at, signal in life.told if signal == "SIGTERM")
            well = (0,) if life.listens else (0, -15)
            if life.code not in well or life.ended - told > ENDS_WITHIN + _paused(evidence, life, told):
                text = f"{life.name} {life.pid} with {life.code} after {life.ended - told:.1f} s"
                yield Ruling("did not end well", text)


def judge_memory(evidence: Evidence) -> Iterator[Ruling]:
    """Warm processes do not grow."""
    for (pid, _), growth in _growths(evidence).items():
        if growth > GROWTH:
            yield Ruling("grows", f"{pid} by {growth / 1024 / 1024:.1f} MB")


def judge_keys(evidence: Evidence) -> Iterator[Ruling]:
    """There are as many keys as docs/settings.md says: a marker per task, a record per fan-out, and the fixed ones."""
    least, most = _expected_keys(evidence)
    for kind, count in evidence.keys.items():
        if not least.get(kind, 0) <= count <= most.get(kind, 0):
            yield Ruling("keys", f"{kind}: {count} are not {least.get(kind, 0)} to {most.get(kind, 0)}")


def _killed(life: Life) -> bool:
    return any(signal == "SIGKILL" for _, signal in life.told)


def _paused(evidence: Evidence, life: Life, since: float) -> float:
    return sum(one.ended - max(one.begun, since) for one in evidence.troubles
               if one.name == life.name and one.what == "paused" and one.ended > since)  # fmt: skip


def _growths(evidence: Evidence) -> dict[tuple[int, float], int]:
    """Return by how much each process grew that was measured for long enough, once it was warm."""
    growths = {}
    for process, samples in evidence.memory.items():
        (begun, _), (ended, last) = samples[0], samples[-1]
        if ended - begun > MEASURED:
            growths[process] = last - next(rss for at, rss in samples if at > (begun + ended) / 2)
    return growths


def _expected_keys(evidence: Evidence) -> tuple[Counter[str], Counter[str]]:
    lost = max(evidence.losses, default=0.0)
    entries = {key.name: entry for key, entry in all_entries().items()}
    least: Counter[str] = Counter(term=1, state=1, current=1, history=1)
    most: Counter[str] = Counter(term=1, state=1, current=1, history=1, lease=1, wake=1, replicas=1)
    # An outline per version of the schedule goes a minute after its last replica.
    most["schedule"] = len(VERSIONS)
    runs, fires = runs_of(evidence.notes), fires_of(evidence)
    # Of what was claimed as the last replica left there may be something on its way.
    most["intents"] = any(fires[name].at >= evidence.until for name in evidence.eras[-1].intents)
    for fire in fires.values():
        ran = [task for task in tasks_of(entries[fire.entry], fire.id) if task in runs]
        fans_out = bool(ran) and ran != [fire.id]  # the trigger has a marker too
        needs = Counter(task=len(ran) + fans_out, fanout=fans_out)
        if ran and fire.at > lost - UNDERWAY:
            most += needs
        if ran and fire.at > lost:
            least += needs
    return least, most


def _figures(evidence: Evidence, wrong: Sequence[Ruling]) -> str:
    counts = Counter(ruling.what for ruling in wrong)
    fires = fires_of(evidence)
    runs = sum(map(len, runs_of(evidence.notes).values()))
    growth = max(_growths(evidence).values(), default=0) / 1024 / 1024
    return (
        f"fires {len(fires)}, bodies {runs}, missing {counts['missing']}, doubled {counts['doubled']}, "
        f"decisions missing {counts['decision missing']}, decided twice {counts['decided twice']}, "
        f"terms {len(evidence.elected)}, losses of data {len(evidence.losses)}, processes {len(evidence.lives)}, "
        f"largest growth {growth:.1f} MB of {len(_growths(evidence))} processes, keys {sum(evidence.keys.values())}"
    )
