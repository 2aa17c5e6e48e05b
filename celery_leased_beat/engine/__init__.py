"""The engine: a turn is plan, claim, publish, commit. Time is an argument; it knows neither Celery nor Redis."""

from celery_leased_beat.engine.protocols import (
    Claim,
    Dispatcher,
    EntryKey,
    Intent,
    Ledger,
    Loaded,
    Position,
    Term,
    Trust,
    Verdict,
)
from celery_leased_beat.engine.silence import Silence
from celery_leased_beat.engine.turn import Engine

__all__ = [
    "Claim",
    "Dispatcher",
    "Engine",
    "EntryKey",
    "Intent",
    "Ledger",
    "Loaded",
    "Position",
    "Silence",
    "Term",
    "Trust",
    "Verdict",
]
