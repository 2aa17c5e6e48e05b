"""The markers: one per task id, so that a message that comes twice takes effect once.

=========  ==========================================================================================================
running    a run holds the marker for some seconds, renewed while the body runs; when that ends, another may take over
paused     the run ended by a retry, whose message is on its way
done       over, for good: what comes later is dropped
=========  ==========================================================================================================

A run that lost its hold to another changes nothing. A marker ends some hours after its last use; a message that comes
later still begins anew.
"""

from dataclasses import dataclass
from datetime import timedelta
from enum import Enum

from redis import Redis

from celery_leased_beat.settings import MARKER_TTL
from celery_leased_beat.store.channel import Argument, Pooled
from celery_leased_beat.store.keys import Keys
from celery_leased_beat.store.script import Scripts

#: How long a run holds its marker without a sign: a dead worker's task waits that long.
HOLD = timedelta(seconds=15)
#: So often an attempt may begin without an end, as a body does that kills its worker.
STARTS = 5

_MILLISECOND = timedelta(milliseconds=1)


class MarkerVerdict(Enum):
    """Whether a run may begin.

    OWN: begin. EXHAUSTED: the task killed too many workers; end it as failed, with this run. DUPLICATE: another
    delivery has it, or a later attempt. DONE: it is over. LIVE: another run of this delivery goes on, come again later.
    """

    OWN = "own"
    DUPLICATE = "duplicate"
    LIVE = "live"
    DONE = "done"
    EXHAUSTED = "exhausted"


@dataclass(frozen=True, slots=True)
class Start:
    """A verdict; with LIVE, ``remaining`` is for how long the other run holds the marker unless it renews it."""

    verdict: MarkerVerdict
    remaining: timedelta = timedelta()


class Markers:
    """The markers of one namespace. Each call raises ``StoreError`` where no answer came; each may be sent again."""

    def __init__(self, client: Redis, keys: Keys, ttl: timedelta = MARKER_TTL, hold: timedelta = HOLD) -> None:
        self._scripts = Scripts(Pooled(client))
        self._keys = keys
        self._ttl = ttl // _MILLISECOND
        self._hold = hold // _MILLISECOND

    def start(self, task_id: str, delivery: str, run: str, attempt: int) -> Start:
        """Ask to begin ``run`` (new for each) of a task; ``delivery`` is its message's, ``attempt`` rises by retries.

        The fire's intent ends, whatever the verdict: its message has arrived.
        """
        keys = [self._keys.marker(task_id), self._keys.intents]
        arguments: list[Argument] = [task_id, delivery, run, attempt, self._hold, self._ttl, STARTS]
        verdict, remaining = self._scripts.run("start", keys, arguments)
        return Start(MarkerVerdict(verdict), remaining * _MILLISECOND)

    def renew(self, task_id: str, run: str) -> bool:
        """Hold the marker on; return whether it is still this run's."""
        return self._mark(task_id, run, "running", self._hold)

    def pause(self, task_id: str, run: str) -> bool:
        """End the hold of a run that ended by a retry; return whether the marker was still this run's."""
        return self._mark(task_id, run, "paused", 0)

    def done(self, task_id: str, run: str) -> bool:
        """Mark the task as over; return whether the marker was still this run's."""
        return self._mark(task_id, run, "done", 0)

    def _mark(self, task_id: str, run: str, state: str, hold: int) -> bool:
        (is_ours,) = self._scripts.run("mark", [self._keys.marker(task_id)], [run, state, hold, self._ttl])
        return bool(is_ours)
