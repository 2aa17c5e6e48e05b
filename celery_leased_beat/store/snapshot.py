"""The ledger as somebody finds it who holds no lease: read only, so without a fence."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from redis import Redis

from celery_leased_beat.engine.protocols import EntryKey, Position
from celery_leased_beat.fires import from_milliseconds
from celery_leased_beat.store import history
from celery_leased_beat.store.channel import Pooled, ask
from celery_leased_beat.store.clock import instant
from celery_leased_beat.store.keys import Keys

#: Entries per command: more would hold the server up for everybody.
SLICE = 500


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What the ledger said at ``now``, a time of its server's clock.

    ``positions`` has the entries that are enrolled; ``serving`` has, of each name, the key of the timing under which
    a holder last loaded it. ``records`` are the history's from some time on, and ``reaches_back`` is when its oldest
    one was written: what was decided earlier was trimmed, or lost with the data. None is for an empty history.
    """

    now: datetime
    positions: Mapping[EntryKey, Position]
    serving: Mapping[str, str]
    records: Sequence[history.Record]
    reaches_back: datetime | None


class LedgerReader:
    """Reads the ledger of one namespace. Each call raises ``StoreError`` where no usable answer came."""

    def __init__(self, client: Redis, keys: Keys) -> None:
        self._channel = Pooled(client)
        self._keys = keys

    def now(self) -> datetime:
        """Return the time of the server's clock."""
        (time,) = ask(self._channel, ("TIME",))
        return instant(time)

    def snapshot(self, entries: Sequence[EntryKey], since: datetime, name: str | None = None) -> Snapshot:
        """Return where ``entries`` stand, and what was decided from ``since`` on, of the entry ``name`` or of all.

        Holders go on while this reads, so the order counts: an instant that a watermark has passed is in a history that
        is read later, and what is trimmed meanwhile shows in how far back it reaches, which is asked last.
        """
        now = self.now()
        positions, serving = self._positions(entries), self._serving({key.name for key in entries})
        records = list(history.read(self._channel, self._keys, since, name))
        return Snapshot(now, positions, serving, records, self._reaches_back())

    def _positions(self, entries: Sequence[EntryKey]) -> dict[EntryKey, Position]:
        fields = {_field(key): key for key in entries}
        return {fields[field]: _position(value) for field, value in self._values(self._keys.state, fields)}

    def _serving(self, names: Iterable[str]) -> dict[str, str]:
        return dict(self._values(self._keys.current, names))

    def _values(self, key: str, fields: Iterable[str]) -> Iterator[tuple[str, str]]:
        """Yield the fields of a hash that are there."""
        asked = list(fields)
        for start in range(0, len(asked), SLICE):
            part = asked[start : start + SLICE]
            (values,) = ask(self._channel, ("HMGET", key, *part))
            for field, value in zip(part, values, strict=True):
                if value is not None:
                    yield field, value

    def _reaches_back(self) -> datetime | None:
        (oldest,) = ask(self._channel, ("XRANGE", self._keys.history, "-", "+", "COUNT", 1))
        return from_milliseconds(int(oldest[0][0].partition("-")[0])) if oldest else None


def _field(key: EntryKey) -> str:
    """Return the field of an entry's state, as ``load.lua`` writes it: Lua counts bytes."""
    return f"{len(key.name.encode('utf-8', 'surrogateescape'))}:{key.name}:{key.timing}"


def _position(value: str) -> Position:
    watermark, anchor, *_ = value.split()
    return Position(from_milliseconds(int(watermark)), from_milliseconds(int(anchor)))
