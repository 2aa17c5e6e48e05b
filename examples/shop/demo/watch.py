"""What the lease and the ledger show to somebody who only looks."""

import time
from dataclasses import dataclass
from datetime import UTC, datetime
from threading import Event, Thread
from typing import NamedTuple, Self

from redis import Redis

from celery_leased_beat.fires import from_milliseconds
from celery_leased_beat.plan import Outcome
from celery_leased_beat.store import Holder, Keys, Ledger, ServerClock
from examples.shop.demo.audit import Passed

#: Seconds between two looks at the lease; no measured takeover is more precise.
PERIOD = 0.005

EPOCH = datetime.fromtimestamp(0, UTC)


@dataclass(frozen=True)
class Tenure:
    """A term of the lease as seen from outside: its number, who has it, and when that was first seen (monotonic)."""

    term: int
    pid: int
    seen_at: float


class Position(NamedTuple):
    """Where an entry stands: its last decided instant, and the anchor of its timing."""

    watermark: datetime
    anchor: datetime


class Watch:
    """Looks at the lease from a thread of its own, and at the ledger when it is asked."""

    def __init__(self, client: Redis, namespace: str) -> None:
        self.tenures: list[Tenure] = []
        self.held = False
        self._client = client
        self._keys = Keys(namespace)
        self._ledger = Ledger(client, self._keys, ServerClock(), replica="watch")
        self._over = Event()
        self._thread = Thread(target=self._look, name="watch", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    @property
    def holder(self) -> Tenure | None:
        """Who holds the lease now."""
        return self.tenures[-1] if self.tenures and self.held else None

    def after(self, tenure: Tenure) -> Tenure | None:
        """Return the term that followed ``tenure``, None while there is none."""
        return next((later for later in self.tenures if later.term > tenure.term), None)

    def now(self) -> datetime:
        """Return the time of the server's clock."""
        seconds, microseconds = self._client.time()
        return datetime.fromtimestamp(seconds, UTC).replace(microsecond=microseconds)

    def positions(self) -> dict[str, Position]:
        """Return where each entry stands.

        The ledger has a field ``<length>:<name>:<timing>`` for each, with the value ``<watermark> <anchor> <term>``.
        """
        fields = self._client.hgetall(self._keys.state)
        return {_name(str(field)): _position(str(value)) for field, value in fields.items()}

    def passed(self) -> list[Passed]:
        """Return what is on record as decided not to fire."""
        records = self._ledger.history(EPOCH, self.now())
        decided_against = (Outcome.COALESCED, Outcome.SKIPPED)
        return [Passed(one.entry, one.first, one.last) for one in records if one.outcome in decided_against]

    def _look(self) -> None:
        while not self._over.wait(PERIOD):
            value = self._client.get(self._keys.lease)
            self.held = value is not None
            if value is not None:
                self._note(Holder.parse(str(value)))

    def _note(self, holder: Holder) -> None:
        if not self.tenures or self.tenures[-1].term < holder.term:
            self.tenures.append(Tenure(holder.term, _pid(holder.replica), time.monotonic()))


def _pid(replica: str) -> int:
    return int(replica.split(":")[1].split()[0])


def _name(field: str) -> str:
    length, _, rest = field.partition(":")
    return rest.encode()[: int(length)].decode()


def _position(value: str) -> Position:
    watermark, anchor, *_ = value.split()
    return Position(_instant(watermark), _instant(anchor))


def _instant(milliseconds: str) -> datetime:
    return from_milliseconds(int(milliseconds))
