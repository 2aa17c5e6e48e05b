"""The protocol explored: in no state that can be reached within the bounds is a guarantee broken.

``LEASED_BEAT_MODEL=long`` explores further, for some two hours. ``docs/model.md`` says what that is.
"""

import itertools
import os
from collections.abc import Callable
from datetime import timedelta

import pytest

from tests.model.bounds import CLOCK_AHEAD, FAULTS, OF_REPLICAS, OF_WORKERS, Bounds
from tests.model.elections import elect
from tests.model.explore import explore
from tests.model.laws import Law
from tests.model.search import Found

SCENES = {
    "whatever goes wrong, one fault": Bounds(),
    "one fault, and what was missed is coalesced": Bounds(catch_up="latest", workers=1),
    "one fault, and three replicas": Bounds(replicas=3, workers=1, instants=1),
    "one fault, and a listener": Bounds(listeners=1, instants=1),
    "a clock that is ahead": Bounds(kinds=frozenset({CLOCK_AHEAD})),
    "two faults of replicas": Bounds(faults=2, kinds=OF_REPLICAS, workers=1, instants=1),
    "two faults of workers": Bounds(faults=2, kinds=OF_WORKERS, replicas=1, instants=1),
}
LONG_SCENES = {
    "three faults of replicas": Bounds(faults=3, kinds=OF_REPLICAS, workers=1, instants=1),
    "three faults of workers": Bounds(faults=3, kinds=OF_WORKERS, replicas=1, instants=1),
    "two faults of any kind, one instant": Bounds(faults=2, kinds=FAULTS, instants=1),
    "two faults of workers, and two listeners": Bounds(faults=2, kinds=OF_WORKERS, replicas=1, instants=1, listeners=2),
    "one fault, three replicas, two workers, two instants": Bounds(replicas=3),
    **{
        f"two faults: {one}, {other}": Bounds(faults=2, kinds=frozenset({one, other}))
        for one, other in itertools.combinations_with_replacement(sorted(FAULTS), 2)
    },
}
ELECTIONS = {"no fault, seven seconds": (0, 7), "one fault, two seconds": (1, 2)}
LONG_ELECTIONS = {"one fault, seven seconds": (1, 7), "two faults, two seconds": (2, 2)}

if os.environ.get("LEASED_BEAT_MODEL") == "long":
    SCENES |= LONG_SCENES
    ELECTIONS |= LONG_ELECTIONS


@pytest.mark.timeout(7200)
@pytest.mark.parametrize("bounds", SCENES.values(), ids=SCENES)
def test_every_guarantee_holds_in_every_state(bounds: Bounds, record: Callable[[Found], None]) -> None:
    found = explore(bounds)
    record(found)
    assert found.broken is None, str(found)


@pytest.mark.timeout(7200)
@pytest.mark.parametrize(("faults", "seconds"), ELECTIONS.values(), ids=ELECTIONS)
def test_nobody_trusts_a_lease_that_is_not_his(faults: int, seconds: int, record: Callable[[Found], None]) -> None:
    found = elect(faults=faults, seconds=seconds)
    record(found)
    assert found.broken is None, str(found)


def test_a_lease_that_was_won_by_asking_again_is_not_replaced_while_its_holder_is_connected() -> None:
    found = elect(faults=1, seconds=1, strict=True)
    assert found.broken is None, str(found)


def test_what_is_on_record_as_skipped_for_its_grace_may_have_been_enqueued() -> None:
    """Not promised: nobody knows what an older holder had enqueued when it died, until a worker begins with it."""
    bounds = Bounds(grace=timedelta(minutes=30), kinds=frozenset({"a replica crashes"}), workers=1)
    assert explore(bounds).broken is Law.SKIPPED
    assert explore(bounds, heed=set(Law) - {Law.SKIPPED}).broken is None


@pytest.fixture
def record(record_property: Callable[[str, object], None]) -> Callable[[Found], None]:
    """Takes down how far an exploration went; it must have gone somewhere."""

    def note(found: Found) -> None:
        record_property("states", found.states)
        print(found)
        assert found.states > 500

    return note
