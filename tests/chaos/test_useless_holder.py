"""The holder that lives and is of no use: it gives the lease up, another one fires, and it does not snatch it back."""

from collections.abc import Callable

import pytest

from tests.chaos.members import Replica
from tests.chaos.notes import What
from tests.chaos.programme import AIMED
from tests.chaos.run import begin, calm, holder_of, wait_for
from tests.chaos.scene import Scene
from tests.chaos.verdict import judge
from tests.nodes.waiting import holds_for

#: From the moment at which it is of no use: two lives of its lease, a publish that is bounded, and a busy machine.
SOON = 30.0


def hang(holder: Replica) -> Callable[[], None]:
    holder.hang()
    return lambda: None


def lose_the_broker(holder: Replica) -> Callable[[], None]:
    return holder.freeze("broker")


@pytest.mark.parametrize("make_useless", [hang, lose_the_broker])
def test_a_holder_of_no_use_lets_another_one_fire(
    scene: Scene, make_useless: Callable[[Replica], Callable[[], None]]
) -> None:
    begin(scene)
    useless = holder_of(scene)
    wait_for(scene, lambda: handled(scene) > 2, "it fires")

    make_useful = make_useless(useless)
    wait_for(scene, lambda: scene.holder() not in (None, useless), "another holder", SOON)
    before = handled(scene)
    wait_for(scene, lambda: handled(scene) > before + 3, "the other one fires")
    holds_for(lambda: scene.holder() is not useless, "it does not take the lease back", 2 * scene.setting.ttl)
    make_useful()

    assert "gave up the lease" in useless.logs()
    assert_all_lived(scene)


def test_a_broker_that_takes_nothing_lets_each_replica_try_and_ends_none(scene: Scene) -> None:
    begin(scene)
    wait_for(scene, lambda: handled(scene) > 2, "it fires")

    scene.broker.block()
    elected = {one.pid for one in scene.watch.elected}
    wait_for(scene, lambda: len({one.pid for one in scene.watch.elected} - elected) >= 2, "two others try", 2 * SOON)
    scene.broker.unblock()
    before = handled(scene)
    wait_for(scene, lambda: handled(scene) > before + 3, "one of them fires")

    assert_all_lived(scene)


def handled(scene: Scene) -> int:
    """How many fires of an entry of each second were handled."""
    return len({note.fire for note in scene.notebook.notes() if note.entry == AIMED and note.what == What.ENDED})


def assert_all_lived(scene: Scene) -> None:
    """Nobody has ended, nothing is missing, and nothing doubled."""
    assert len(scene.lives) == len([member for member in scene.members if member.wanted])
    verdict = judge(calm(scene))
    assert not verdict.wrong, str(verdict)
    assert not [one for one in verdict.allowed if one.what != "given up and run"], str(verdict)
