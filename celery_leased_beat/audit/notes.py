"""What people should know of an entry besides its instants, in sentences."""

from collections.abc import Iterable, Iterator

from celery_leased_beat.engine import EntryKey
from celery_leased_beat.store import Record, Snapshot
from celery_leased_beat.timing import Timing, has_memory

#: Records that tell of a change and decide no instant, as ``load.lua`` writes them.
RETIMED = "retimed"
RECALLED = "recalled"
CORRECTED = "corrected"


def standing(timing: Timing, key: EntryKey, ledger: Snapshot) -> Iterator[str]:
    """Say what cannot be told of the entry, and how the ledger knows it, where it does not serve it as it is."""
    if has_memory(timing):
        yield "it may go by something else than the time: which instants are missing or strange cannot be told"
    served = ledger.serving.get(key.name, key.timing)
    if served != key.timing:
        yield f"the ledger serves it under another timing: {served}"
    elif key not in ledger.positions:
        yield "the ledger does not know it yet: no holder has loaded it"


def changes(records: Iterable[Record]) -> Iterator[str]:
    """Say what happened to the entry's timing and to its watermark."""
    for record in records:
        at, first, last = (time.isoformat() for time in (record.at, record.first, record.last))
        if record.outcome == RETIMED:
            yield f"retimed at {at}: what was due after {first} until {last} was dropped ({record.reason})"
        elif record.outcome == RECALLED:
            yield f"the server had lost what was decided after {first} until {last}: a replica remembered at {at}"
        elif record.outcome == CORRECTED:
            yield f"the watermark was set back from {last} to {first}: {record.reason}"
