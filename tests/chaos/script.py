"""The seeded sequence of faults, and its performance."""

import time
from collections.abc import Iterator
from dataclasses import dataclass
from random import Random

from tests.chaos import faults_of_members, faults_of_servers
from tests.chaos.fault import FAULTS, Fault
from tests.chaos.scene import Scene

#: The modules that fill the catalogue.
CATALOGUE = (faults_of_members, faults_of_servers)

#: Seconds from the begin of a fault to that of the next.
PAUSE = (0.3, 3.0)
#: Runs that are shorter than this leave out the faults that take long.
LONG = 300.0
TICK = 0.05


@dataclass
class _Ongoing:
    fault: Fault
    course: Iterator[float]
    due: float


def sequence(seed: int, *, long: bool, strict: bool) -> Iterator[tuple[Fault, Random]]:
    """Yield faults for ever, each with its own random numbers: in rounds, in which each comes as often as it weighs."""
    chosen = [fault for fault in FAULTS if (long or not fault.long) and not (strict and fault.weakens)]
    draw = Random(seed)
    number = 0
    while True:
        deck = [fault for fault in chosen for _ in range(fault.weight)]
        draw.shuffle(deck)
        for fault in deck:
            number += 1
            yield fault, Random(f"{seed}/{number}")


class Performance:
    """Performs a sequence of faults on a scene, several at a time where they last."""

    def __init__(self, scene: Scene, faults: Iterator[tuple[Fault, Random]]) -> None:
        self._scene = scene
        self._faults = faults
        self._ongoing: list[_Ongoing] = []
        self._next = next(faults)
        self._next_at = time.time()
        self.performed = 0

    def run(self, seconds: float) -> None:
        """Perform for so long, then let all that lasts be healed."""
        deadline = time.time() + seconds
        try:
            while time.time() < deadline:
                self._scene.supervise()
                self._go_on(time.time())
                self._begin(time.time())
                time.sleep(TICK)
        finally:
            self._go_on(float("inf"))

    def _begin(self, now: float) -> None:
        fault, draw = self._next
        if now < self._next_at or (fault.place and any(one.fault.place == fault.place for one in self._ongoing)):
            return
        self._scene.timeline.note(f"fault {self.performed + 1}: {fault.name}")
        course = fault.begin(self._scene, draw)
        if course is not None:
            self._ongoing.append(_Ongoing(fault, course, 0.0))
            self._go_on(time.time())
        self.performed += 1
        self._next = next(self._faults)
        self._next_at = time.time() + draw.uniform(*PAUSE)

    def _go_on(self, now: float) -> None:
        """Let each fault that is due take its next step; with infinity, all steps to its end."""
        for one in list(self._ongoing):
            while one.due <= now:
                step = next(one.course, None)
                if step is None:
                    self._ongoing.remove(one)
                    if one.due:
                        self._scene.timeline.note(f"over: {one.fault.name}")
                    break
                one.due = time.time() + step
