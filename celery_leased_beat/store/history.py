"""The history: what was decided, when, by whom and why. The scripts write it, people and commands read it."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from celery_leased_beat.errors import StoreError
from celery_leased_beat.fires import from_milliseconds, to_milliseconds
from celery_leased_beat.store.channel import Channel, ask
from celery_leased_beat.store.keys import Keys

#: Records per round trip.
PAGE = 1000


@dataclass(frozen=True, slots=True)
class Record:
    """One decision, over the instants of one entry from ``first`` to ``last``, ``count`` of them.

    ``outcome`` is a decision's ("fired", "coalesced", "skipped"), "failed" or "skipped" for a fire that was claimed and
    then not enqueued, "retimed" where the entry's timing changed and what lay between is dropped, "recalled" where the
    server has lost what was decided after ``first`` until ``last`` and the holder knows that it was, or "corrected"
    where its watermark was ahead of the clock and was set back from ``last`` to ``first``. ``at`` is the time of the
    decision, ``late`` by how much it came after ``last``; ``fire_id`` is empty where nothing fires.
    """

    at: datetime
    entry: str
    outcome: str
    first: datetime
    last: datetime
    count: int
    reason: str
    late: timedelta
    term: int
    holder: str
    fire_id: str


def read(channel: Channel, keys: Keys, since: datetime, entry: str | None = None) -> Iterator[Record]:
    """Give the records from ``since`` on in order, of one ``entry`` or of all. Raises ``StoreError``.

    They are read to the history's end, which lies ahead of a server's clock that was set back.
    """
    start = str(to_milliseconds(since))
    while start:
        (page,) = ask(channel, ("XRANGE", keys.history, start, "+", "COUNT", PAGE))
        for key, pairs in page:
            values = pairs if isinstance(pairs, dict) else dict(zip(pairs[::2], pairs[1::2], strict=True))
            try:
                record = _record(key, values) if entry in (None, values["entry"]) else None
            except (KeyError, ValueError) as error:
                raise StoreError(f"{keys.history} has a record {key} that is not ours: {error!r}") from error
            if record is not None:
                yield record
        start = f"({page[-1][0]}" if len(page) == PAGE else ""


def _record(key: str, values: dict[str, str]) -> Record:
    return Record(
        at=from_milliseconds(int(key.partition("-")[0])),
        entry=values["entry"],
        outcome=values["outcome"],
        first=from_milliseconds(int(values["first"])),
        last=from_milliseconds(int(values["last"])),
        count=int(values["count"]),
        reason=values["reason"],
        late=timedelta(milliseconds=int(values["late"])),
        term=int(values["term"]),
        holder=values["holder"],
        fire_id=values["fire"],
    )
