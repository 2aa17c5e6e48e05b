"""The fan-out records: to which listeners an envelope goes, and which of them were sent to.

The first attempt fixes the list. A retry sends the rest of that list, whatever its own code says.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from redis import Redis

from celery_leased_beat.settings import MARKER_TTL
from celery_leased_beat.store.channel import Pooled
from celery_leased_beat.store.keys import Keys
from celery_leased_beat.store.script import Scripts

#: To whom an envelope goes, in order: the name of each listener, and the options of the message to it.
Recipients = Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class Fanout:
    """The recorded ``listeners`` of one envelope, and the names of those that were ``sent`` to."""

    listeners: Recipients
    sent: frozenset[str]

    @property
    def rest(self) -> Recipients:
        """The listeners that are still to be sent to."""
        return {name: options for name, options in self.listeners.items() if name not in self.sent}


class Fanouts:
    """The fan-out records of one namespace. Each call may be sent again after a ``StoreError``."""

    def __init__(self, client: Redis, keys: Keys, ttl: timedelta = MARKER_TTL) -> None:
        self._scripts = Scripts(Pooled(client))
        self._keys = keys
        self._ttl = ttl // timedelta(milliseconds=1)

    def begin(self, envelope_id: str, listeners: Recipients) -> Fanout:
        """Record ``listeners``, unless an earlier attempt recorded its own, and return what is recorded."""
        written = json.dumps({name: dict(options) for name, options in listeners.items()})
        recorded, sent = self._scripts.run("fanout", [self._keys.fanout(envelope_id)], [written, self._ttl])
        return Fanout(json.loads(recorded), frozenset(sent))

    def sent(self, envelope_id: str, listener: str) -> None:
        """Record that the message to the listener of that name is enqueued."""
        self._scripts.run("sent", [self._keys.fanout(envelope_id)], [listener, self._ttl])
