"""A run from its curtain to its evidence: the cast comes, faults happen, calm returns, all leave."""

import time
from collections import Counter
from collections.abc import Callable

from celery_leased_beat.engine import EntryKey
from celery_leased_beat.store import Keys
from tests.chaos.evidence import Era, Evidence
from tests.chaos.logs import given_up, our_errors, received, serving_since, succeeded, why_ended
from tests.chaos.members import Replica
from tests.chaos.programme import entries_of
from tests.chaos.runs import judge_runs
from tests.chaos.scene import Scene
from tests.chaos.script import LONG, Performance, sequence
from tests.nodes.waiting import T, wait_until

#: What a worker that died left comes back after the visibility timeout, waits for a hold's end, and is put off.
CALM = 150.0
REPLICAS = 3


def begin(scene: Scene, *, replicas: int = REPLICAS, workers: bool = True) -> None:
    """Let the cast come, and wait until one of them holds the lease and all workers work."""
    for worker in scene.workers:
        worker.wanted = workers
    scene.scale(replicas)
    wait_for(scene, lambda: scene.holder() and all(worker.ready for worker in scene.workers if workers), "a cast", 90)


def perform(scene: Scene, seconds: float, seed: int, *, strict: bool) -> int:
    """Let the cast come and faults happen; return how many did."""
    scene.timeline.note(f"seed {seed}, {seconds:.0f} s")
    begin(scene)
    performance = Performance(scene, sequence(seed, long=seconds >= LONG, strict=strict))
    performance.run(seconds)
    return performance.performed


def calm(scene: Scene) -> Evidence:
    """Wait until all that was due is done, let all leave, and return the evidence."""
    scene.timeline.note("calm")
    begin(scene)
    _see_off(scene)
    until = time.time()
    _try(scene, lambda: _is_decided(scene, until))
    scene.scale(0)
    _see_off(scene)
    left = _try(scene, lambda: not scene.broker.left() and not _missing(scene, until))
    scene.timeline.note("all is done" if left else f"not done: {scene.broker.left()[:5]}")
    return evidence(scene, until)


def _see_off(scene: Scene) -> None:
    """Wait until all replicas that were told to end have ended: what follows takes long to look at them again."""
    told = [life for replica in scene.replicas for life in replica.lives if life.dismissed]
    wait_for(scene, lambda: all(life.code is not None for life in told), "all replicas ended", 60)


def evidence(scene: Scene, until: float) -> Evidence:
    """Collect what the verdict looks at; what is due later than ``until`` need not be done."""
    logs = {member.name: member.logs() for member in scene.members}
    replicas = "".join(logs[replica.name] for replica in scene.replicas)
    workers = "".join(logs[member.name] for member in scene.members if member.works)
    return Evidence(
        namespace=scene.setting.namespace,
        version=scene.setting.version,
        begun=scene.timeline.begun,
        until=until,
        eras=[*scene.eras, Era(time.time(), scene.ledger(), scene.intents())],
        notes=scene.notebook.notes(),
        lives=scene.lives,
        elected=scene.watch.elected,
        troubles=[*scene.troubles, *(trouble for member in scene.members for trouble in member.troubles)],
        breaks=scene.breaks,
        fetched_before_noted=scene.broker.fetched_before_noted,
        received=received(workers),
        succeeded=succeeded(workers),
        serving={
            life.pid: since for life in scene.lives if (since := serving_since(life, logs[life.name])) is not None
        },
        excuses={life.key: why_ended(life, logs[life.name], scene.breaks) for life in scene.lives},
        errors=list(our_errors(replicas)),
        given_up=given_up(replicas),
        memory=scene.memory,
        keys=_keys(scene),
    )


def _is_decided(scene: Scene, until: float) -> bool:
    """Whether no entry has an instant by then that is still to be decided."""
    positions = scene.ledger().positions
    for entry in entries_of(scene.setting.version).values():
        position = positions.get(EntryKey(entry.name, entry.timing.key))
        due = entry.timing.anchored(position.anchor).next_after(position.watermark) if position else None
        if due is None or due.timestamp() <= until:
            return False
    return not _missing(scene, until)


def _missing(scene: Scene, until: float) -> bool:
    return any(ruling.what == "missing" and not ruling.allowed for ruling in judge_runs(evidence(scene, until)))


def _keys(scene: Scene) -> Counter[str]:
    prefix = Keys(scene.setting.namespace).lease.removesuffix("lease")
    return Counter(key.removeprefix(prefix).partition(":")[0] for key in scene.lease.client.scan_iter(count=1000))


def wait_for(scene: Scene, condition: Callable[[], T], what: str, seconds: float = 30.0) -> T:
    """Wait on a condition while the scene is supervised, and return its first true answer."""

    def look() -> T:
        scene.supervise()
        return condition()

    return wait_until(look, what, seconds)


def holder_of(scene: Scene) -> Replica:
    """Wait for the replica that holds the lease; one look may go without an answer on a machine that is busy."""
    found = wait_for(scene, scene.holder, "a holder")
    assert found
    return found


def _try(scene: Scene, condition: Callable[[], bool]) -> bool:
    """Look once a second; what does not come in time is left to the verdict."""
    deadline = time.time() + CALM
    while not (done := condition()) and time.time() < deadline:
        scene.supervise()
        time.sleep(1.0)
    return done
