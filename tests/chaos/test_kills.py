"""Holders that are killed around an instant: it is handled once, and soon. ``--kills 200`` makes many of it."""

import statistics
import time
from collections import Counter
from collections.abc import Sequence

import pytest

from tests.chaos.members import Replica
from tests.chaos.notes import Note, What
from tests.chaos.programme import AIMED
from tests.chaos.run import begin, calm, holder_of, wait_for
from tests.chaos.runs import fires_of
from tests.chaos.scene import Scene
from tests.chaos.verdict import judge
from tests.nodes.proxy import Hold, Side, script
from tests.nodes.waiting import wait_until

#: Replicas at a time: one of them holds the lease, some start, and some have seen the holder.
REPLICAS = 5
#: So many seconds after its start a standby has seen the holder, and may take over before the TTL is over.
SEEN = 1.5


@pytest.fixture
def ttl() -> float:
    """The lease of the documentation."""
    return 15.0


def test_each_instant_is_handled_once_and_soon_though_holders_are_killed_around_it(
    scene: Scene, pytestconfig: pytest.Config
) -> None:
    begin(scene, replicas=REPLICAS)
    kills = pytestconfig.getoption("kills", 10)
    for _ in range(kills):
        seasoned = Seasoned(scene)
        wait_for(scene, lambda seasoned=seasoned: seasoned.standbys() >= 2, "standbys that have seen the holder", 60)
        holder = holder_of(scene)
        scene.aim(spread=0.2)
        kill_with_a_lasting_lease(scene, holder)
        wait_for(scene, lambda holder=holder: scene.holder() not in (None, holder), "a successor that saw it die")
    evidence = calm(scene)
    verdict = judge(evidence)
    late = lateness(evidence.notes)
    print(f"{kills} kills, latest {max(late):.2f} s, median {statistics.median(late):.3f} s: {verdict}")
    assert not verdict.wrong, str(verdict)
    assert not verdict.allowed, str(verdict)


@pytest.mark.parametrize("side", ["request", "reply"], ids=["uncommitted", "committed"])
def test_a_successor_does_not_fire_again_what_the_killed_holder_fired(scene: Scene, side: Side) -> None:
    """What was committed has one message; what was not gets a second one of the same id, which a worker drops."""
    begin(scene, replicas=2, workers=False)
    holder = holder_of(scene)
    wait_for(scene, lambda: scene.fires() - scene.intents(), "a first commit, for which the script is sent")

    held = holder.paths["lease"].hold(script("commit"), side)
    held.wait()
    if side == "reply":
        wait_until(lambda: not scene.intents(), "the commit has come to the server")
    left, committed = kill_and_look(scene, holder, held)
    wait_for(scene, lambda: scene.holder() not in (None, holder), "a successor", 60)
    wait_for(scene, lambda: not left & scene.intents(), "the successor has no intent of the killed one")

    counts = Counter(scene.broker.waiting())
    assert committed
    assert {counts[fire] for fire in committed} == {1}
    evidence = calm(scene)
    if side == "request":
        late = {fire.id for fire in fires_of(evidence).values() if fire.given_up}
        assert left
        assert {counts[fire] for fire in left - late} <= {2}
    verdict = judge(evidence)
    assert not verdict.wrong, str(verdict)
    assert not [one for one in verdict.allowed if one.what != "given up and run"], str(verdict)


def kill_with_a_lasting_lease(scene: Scene, holder: Replica) -> None:
    """Kill it, and let its lease not end by itself: it is followed soon, by who has seen it die, or never."""
    holder.tell("SIGSTOP")  # else it may renew the lease, and with it its end
    scene.lease.client.persist(scene.keys.lease)
    holder.tell("SIGKILL")


def kill_and_look(scene: Scene, holder: Replica, held: Hold) -> tuple[frozenset[str], frozenset[str]]:
    """Kill it, and return the fires that it left as intents, and those that it committed, before another one acts."""
    holder.tell("SIGKILL")
    wake = [standby.pause() for standby in scene.free_replicas if standby is not holder]
    wait_until(lambda: holder.life is None, "it has ended")
    # What was held back must not arrive: a dead machine sends nothing any more.
    holder.cut("lease")
    held.release()
    left = scene.intents()
    committed = scene.fires() - left
    for resume in wake:
        resume()
    return left, committed


class Seasoned:
    """Counts the standbys that have been ready for so long that they have seen the holder."""

    def __init__(self, scene: Scene) -> None:
        self._scene = scene
        self._ready: dict[int, float] = {}

    def standbys(self) -> int:
        holder = self._scene.holder()
        return sum(self._is_seasoned(replica) for replica in self._scene.standbys()) if holder else 0

    def _is_seasoned(self, replica: Replica) -> bool:
        if not replica.life or not replica.ready:
            return False
        return time.time() - self._ready.setdefault(replica.life.pid, time.time()) > SEEN


def lateness(notes: Sequence[Note]) -> list[float]:
    """Return how many seconds after its instant each fire of the entry that was aimed at began to be handled."""
    begun: dict[str, float] = {}
    for note in notes:
        if note.what == What.BEGUN and note.entry == AIMED:
            begun.setdefault(note.fire, note.at - note.due.timestamp())
    return list(begun.values())
