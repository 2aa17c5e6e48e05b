"""How much of the world is explored."""

from dataclasses import dataclass
from datetime import timedelta

#: What may go wrong for replicas, their lease, and what they ask of Valkey and the broker.
OF_REPLICAS = frozenset({
    "a replica crashes", "a replica is paused", "a lease is handed over", "the lease is deleted", "the lease is stolen",
    "a reply is lost", "a request is lost", "a publish is confirmed late", "a publish fails",
})  # fmt: skip
#: What may go wrong for workers and their messages.
OF_WORKERS = frozenset({
    "a reply is lost", "a request is lost", "a publish is confirmed late", "a publish fails",
    "a worker dies", "a message is delivered again", "a worker is cut off", "a body fails",
})  # fmt: skip
#: A replica takes the server's clock to be a minute further than it is.
CLOCK_AHEAD = "a clock is ahead"
FAULTS = OF_REPLICAS | OF_WORKERS | {CLOCK_AHEAD}


@dataclass(frozen=True)
class Bounds:
    """In one run ``faults`` may come, of the kinds in ``kinds``.

    The one entry has so many ``instants``, and so many ``listeners``; without any it is a job.
    """

    faults: int = 1
    kinds: frozenset[str] = FAULTS - {CLOCK_AHEAD}
    replicas: int = 2
    workers: int = 2
    instants: int = 2
    listeners: int = 0
    catch_up: str = "all"
    grace: timedelta | None = None
