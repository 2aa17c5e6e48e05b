"""An intent as the ledger keeps it: the number of the term that claimed it, then JSON.

The JSON is that of Celery's messages, which also carries times, UUIDs, decimals and bytes.
"""

from datetime import timedelta

from kombu.utils.json import dumps, loads

from celery_leased_beat.engine.protocols import Intent
from celery_leased_beat.fires import Fire, from_milliseconds, to_milliseconds

_MILLISECOND = timedelta(milliseconds=1)


def encode(intent: Intent) -> str:
    """Return ``intent`` as JSON; the claim script puts the term in front."""
    return dumps(
        {
            "entry": intent.fire.entry,
            "instant": to_milliseconds(intent.fire.instant),
            "task": intent.task,
            "args": list(intent.args),
            "kwargs": dict(intent.kwargs),
            "options": dict(intent.options),
            "grace": None if intent.grace is None else intent.grace // _MILLISECOND,
        },
        separators=(",", ":"),
    )


def decode(fire_id: str, text: str) -> Intent:
    """Return the intent kept under ``fire_id``. One that is broken raises whatever its JSON makes fail."""
    term, _, body = text.partition(" ")
    kept = loads(body)
    grace = kept["grace"]
    if not isinstance(kept["entry"], str):  # the ledger could not say what becomes of it
        raise TypeError(f"its entry is {kept['entry']!r}")
    return Intent(
        fire=Fire(fire_id, kept["entry"], from_milliseconds(kept["instant"])),
        task=kept["task"],
        args=tuple(kept["args"]),
        kwargs=kept["kwargs"],
        options=kept["options"],
        grace=None if grace is None else grace * _MILLISECOND,
        term=int(term),
    )
