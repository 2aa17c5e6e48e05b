"""The fan-out records: to which listeners an envelope goes, and which of them were sent to.

The first attempt fixes the list. A retry sends the rest of that list, whatever its own code says.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from redis import Redis

from celery_leased_beat.settings import MARKER_TTL
from celery_leased_beat.store.channel import Argument, Pooled
from celery_leased_beat.store.keys import Keys
from celery_leased_beat.store.script import Scripts


@dataclass(frozen=True, slots=True)
class Fanout:
    """The recorded ``listeners`` of one envelope in order, and those that were ``sent`` to."""

    listeners: tuple[str, ...]
    sent: frozenset[str]

    @property
    def rest(self) -> tuple[str, ...]:
        """The listeners that are still to be sent to, in order."""
        return tuple(listener for listener in self.listeners if listener not in self.sent)


class Fanouts:
    """The fan-out records of one namespace. Each call may be sent again after a ``StoreError``."""

    def __init__(self, client: Redis, keys: Keys, ttl: timedelta = MARKER_TTL) -> None:
        self._scripts = Scripts(Pooled(client))
        self._keys = keys
        self._ttl = ttl // timedelta(milliseconds=1)

    def begin(self, envelope_id: str, listeners: Sequence[str]) -> Fanout:
        """Record ``listeners``, unless an earlier attempt recorded its own, and return what is recorded."""
        arguments: list[Argument] = [json.dumps(list(listeners)), self._ttl]
        recorded, sent = self._scripts.run("fanout", [self._keys.fanout(envelope_id)], arguments)
        return Fanout(tuple(json.loads(recorded)), frozenset(sent))

    def sent(self, envelope_id: str, listener: str) -> None:
        """Record that ``listener``'s message is enqueued."""
        self._scripts.run("sent", [self._keys.fanout(envelope_id)], [listener, self._ttl])
