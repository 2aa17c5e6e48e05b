"""Workers that are replicas too come and go, by SIGTERM and by SIGKILL: each instant is handled once.

``pytest tests/chaos/test_scale.py --scale-minutes 5 --chaos-seed 7`` makes it longer; see docs/chaos.md.
"""

import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from random import Random

import pytest

from examples.valkey import Server
from tests.chaos.brokers import ValkeyBroker
from tests.chaos.crew import KINDS, MOST, Crew
from tests.chaos.evidence import Life
from tests.chaos.run import begin, calm, wait_for
from tests.chaos.servers import HarmedValkey
from tests.chaos.verdict import judge
from tests.nodes.valkey import LocalValkey

#: How long they come and go in the suite, in seconds.
SHORT = 30.0
#: Seconds between two changes.
PAUSE = (1.0, 5.0)
#: Exit codes of a worker that was told to go: before it listens, the signal ends Python itself.
WELL = {True: {0}, False: {0, -15}}


@pytest.fixture(params=KINDS)
def crew(request: pytest.FixtureRequest, server: Server, tmp_path: Path, ttl: float) -> Iterator[Crew]:
    draw = Random(request.config.getoption("chaos_seed", 1))
    with ExitStack() as stack:
        lease, broker, sink = HarmedValkey("lease"), ValkeyBroker("broker"), LocalValkey("sink")
        for one in (lease, broker, sink):
            stack.enter_context(closing(one))
            one.start()
        crew = Crew(lease, broker, sink, kind=request.param, folder=tmp_path, draw=draw, ttl=ttl)
        yield stack.enter_context(closing(crew))
        print(crew.timeline)


def test_each_instant_is_handled_once_while_workers_that_are_replicas_come_and_go(
    crew: Crew, pytestconfig: pytest.Config
) -> None:
    seconds = pytestconfig.getoption("scale_minutes", 0.0) * 60 or SHORT
    seed = pytestconfig.getoption("chaos_seed", 1)
    changes = come_and_go(crew, seconds, Random(seed))
    evidence = calm(crew)
    verdict = judge(evidence)
    crews = [life for life in evidence.lives if life.name.startswith("crew")]
    killed = sum(was_killed(life) for life in crews)
    print(f"seed {seed}, {seconds:.0f} s, {changes} changes, {killed} killed and {len(crews) - killed} told: {verdict}")
    assert killed
    assert not verdict.wrong, f"seed {seed}: {verdict}"
    assert [life for life in crews if not was_killed(life) and life.code not in WELL[life.listens]] == []


def come_and_go(crew: Crew, seconds: float, draw: Random) -> Counter[str]:
    """Let the crew come, and then change it for so long; return what was done how often."""
    begin(crew, replicas=MOST, workers=False)
    wait_for(crew, lambda: all(member.ready for member in crew.replicas), "the whole crew", 90)
    changes: Counter[str] = Counter()
    deadline = time.time() + seconds
    while time.time() < deadline:
        change = draw.choice([scale, scale, kill_the_holder, stop_the_holder])
        crew.timeline.note(change.__name__)
        change(crew, draw)
        changes[change.__name__] += 1
        later = time.time() + draw.uniform(*PAUSE)
        wait_for(crew, lambda later=later: time.time() >= later and crew.holder(), "a holder", 90)
    return changes


def scale(crew: Crew, draw: Random) -> None:
    now = sum(member.wanted for member in crew.replicas)
    crew.resize(draw.choice([count for count in range(1, MOST + 1) if count != now]), draw)


def kill_the_holder(crew: Crew, draw: Random) -> None:
    crew.aim()
    if holder := crew.holder():
        crew.kill(holder, draw)


def stop_the_holder(crew: Crew, draw: Random) -> None:
    crew.aim()
    if holder := crew.holder():
        holder.tell("SIGTERM")


def was_killed(life: Life) -> bool:
    return any(signal == "SIGKILL" for _, signal in life.told)
