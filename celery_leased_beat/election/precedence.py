"""Who of several versions may have the lease.

A replica goes before those of older versions: an older holder hands the lease over to it, and an older standby stands
back from a lease that is free. Replicas of one version, or without any, take whatever comes. A replica without entries
never takes the lease.

To be newer is a claim to go first, and not to keep others from going: where a lease stays free for some seconds though
a newer replica is there, the older one takes it, and takes no more notice of those that left it.

There is no I/O here: members and times come in.
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field

from celery_leased_beat.store.roll import Member
from celery_leased_beat.versions import is_newer

#: How long an older standby leaves a free lease to newer ones (seconds): they look several times in that.
LEFT_TO_NEWER = 3.0


@dataclass(slots=True)
class Precedence:
    """What one replica makes of the others. ``version`` is its own, ``serves`` says whether it has any entry."""

    version: str
    serves: bool
    _free_since: float | None = field(default=None, init=False)
    _given_up_on: set[str] = field(default_factory=set, init=False)

    def newer(self, others: Iterable[Member]) -> list[Member]:
        """Return those of ``others`` that go before this replica."""
        return [
            other
            for other in others
            if other.ready
            and other.entries
            and other.id not in self._given_up_on
            and is_newer(other.version, self.version)
        ]

    def note_held(self, others: Iterable[Member]) -> None:
        """Take in that somebody has the lease: one that is waited for no longer may have come to it after all."""
        self._free_since = None
        self._given_up_on -= {other.id for other in others if other.term}

    def decide(self, newer: Collection[Member], at: float) -> bool:
        """Decide whether this replica takes a lease that it finds free at ``at``, where these ``newer`` ones are there.

        It remembers since when it leaves the lease to them, and for whom it waits no longer.
        """
        if not self.serves:
            return False
        if newer:
            if self._free_since is None:
                self._free_since = at
            if at - self._free_since < LEFT_TO_NEWER:
                return False
        self._given_up_on |= {other.id for other in newer}
        self._free_since = None
        return True
