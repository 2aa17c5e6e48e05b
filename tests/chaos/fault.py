"""What a fault is, and the catalogue of them all.

A fault is a function of the scene and of its own random numbers. One that lasts is a generator: it harms, gives the
seconds until it is to go on, and heals. So several last at a time, unless they are of one ``place``.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from random import Random

from tests.chaos.scene import Scene

Course = Iterator[float] | None
Begin = Callable[[Scene, Random], Course]


@dataclass(frozen=True)
class Fault:
    """``weight`` is how often it comes in a round of all, ``place`` what only one fault at a time may touch.

    A ``long`` one takes so much time that a short run leaves it out. One that ``weakens`` does what the docs say no
    promise stands against: a strict run leaves it out.
    """

    name: str
    weight: int
    place: str
    begin: Begin
    long: bool = False
    weakens: bool = False


#: All faults; the modules ``faults_of_...`` put theirs here.
FAULTS: list[Fault] = []


def fault(weight: int, place: str = "", *, long: bool = False, weakens: bool = False) -> Callable[[Begin], Begin]:
    """Put a function into the catalogue."""

    def register(begin: Begin) -> Begin:
        FAULTS.append(Fault(begin.__name__, weight, place, begin, long, weakens))
        return begin

    return register
