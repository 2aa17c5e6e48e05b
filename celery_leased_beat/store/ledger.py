"""The ledger: what was decided for each instant, and which fires are on their way. See ``engine.protocols.Ledger``.

Every write carries the term's token, and the server compares it with the lease's before anything is written. A call
that raises ``StoreError`` may have had its effect; each may be sent again unchanged.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeVar

from redis import Redis

from celery_leased_beat.engine.protocols import Claim, EntryKey, Intent, Loaded, Position, Term, Verdict
from celery_leased_beat.fires import from_milliseconds, to_milliseconds
from celery_leased_beat.store import intent
from celery_leased_beat.store.channel import Argument, Pooled
from celery_leased_beat.store.clock import ServerClock
from celery_leased_beat.store.keys import Keys
from celery_leased_beat.store.script import Call, Scripts

#: What one script may work on: more would hold the server up for everybody (500 claims take some 7 ms).
SLICE = 500

_NOTES = {
    "retimed": "the entry {name} was retimed: what was due after {since} until {until} is dropped",
    "corrected": "the watermark of {name} was ahead of the server's clock: it was set back from {until} to {since}",
}

Item = TypeVar("Item")


class Ledger:
    """The ledger of one namespace; ``replica`` is who writes, for people who read the history."""

    def __init__(self, client: Redis, keys: Keys, clock: ServerClock, *, replica: str) -> None:
        self._scripts = Scripts(Pooled(client), clock)
        self._keys = keys
        self._replica = replica
        self._prune_from = "0"

    def load(
        self, term: Term, keys: Sequence[EntryKey], remembered: Mapping[EntryKey, Position], *, resume: bool
    ) -> Loaded:
        """See the protocol. All scripts go in one round trip."""
        names, slices = self._keys, list(_slices(keys))
        calls = [
            Call(
                "load",
                [names.lease, names.state, names.current, names.history],
                [term.token, self._replica, int(resume), *_enrolments(part, remembered)],
            )
            for part in slices
        ]
        calls.append(Call("prune", [names.lease, names.state, names.current], [term.token, self._prune_from]))
        calls.append(Call("intents", [names.lease, names.intents], [term.token]))
        *loads, (self._prune_from,), (kept,) = self._scripts.run_all(calls)
        positions = {
            key: position
            for part, (flat, _) in zip(slices, loads, strict=True)
            for key, position in zip(part, _positions(flat), strict=True)
        }
        notes = [_note(part, note) for part, (_, found) in zip(slices, loads, strict=True) for note in found]
        intents, broken = _intents(kept)
        return Loaded(positions, intents, [*notes, *broken])

    def claim(self, term: Term, claims: Sequence[Claim]) -> list[Verdict]:
        """See the protocol. One round trip per slice, one after the other: an error ends the rest."""
        verdicts: dict[int, Verdict] = {}
        early: set[EntryKey] = set()
        for part in _slices(list(enumerate(claims))):
            # The clock goes on between two slices, and a later claim must not pass one that was early.
            sent = [(index, claim) for index, claim in part if claim.key not in early]
            for (index, claim), verdict in zip(sent, self._claim(term, [claim for _, claim in sent]), strict=True):
                verdicts[index] = verdict
                if verdict is Verdict.EARLY:
                    early.add(claim.key)
        return [verdicts.get(index, Verdict.EARLY) for index in range(len(claims))]

    def commit(self, term: Term, fire_ids: Sequence[str]) -> None:
        """See the protocol."""
        for part in _slices(fire_ids):
            self._scripts.run("commit", [self._keys.lease, self._keys.intents], [term.token, *part])

    def keep(self, term: Term, intents: Sequence[Intent]) -> None:
        """See the protocol."""
        keys = [self._keys.lease, self._keys.intents]
        for part in _slices(intents):
            pairs = [text for kept in part for text in (kept.fire.id, intent.encode(kept))]
            self._scripts.run("keep", keys, [term.token, *pairs])

    def abandon(self, term: Term, intent: Intent, outcome: str, reason: str) -> None:
        """See the protocol."""
        fire = intent.fire
        keys = [self._keys.lease, self._keys.intents, self._keys.history]
        instant = to_milliseconds(fire.instant)
        self._scripts.run("abandon", keys, [term.token, self._replica, fire.id, fire.entry, instant, outcome, reason])

    def _claim(self, term: Term, claims: Sequence[Claim]) -> list[Verdict]:
        if not claims:
            return []
        keys = [self._keys.lease, self._keys.state, self._keys.intents, self._keys.history]
        decisions = [argument for claim in claims for argument in _decision(claim)]
        (verdicts,) = self._scripts.run("claim", keys, [term.token, self._replica, *decisions])
        return [Verdict(verdict) for verdict in verdicts]


def _slices(items: Sequence[Item]) -> Iterator[Sequence[Item]]:
    for start in range(0, len(items), SLICE):
        yield items[start : start + SLICE]


def _enrolments(keys: Sequence[EntryKey], remembered: Mapping[EntryKey, Position]) -> Iterator[Argument]:
    for key in keys:
        position = remembered.get(key)
        yield from key
        yield "" if position is None else to_milliseconds(position.watermark)
        yield "" if position is None else to_milliseconds(position.anchor)


def _positions(flat: Sequence[str]) -> Iterator[Position]:
    for watermark, anchor in zip(flat[::2], flat[1::2], strict=True):
        yield Position(from_milliseconds(int(watermark)), from_milliseconds(int(anchor)))


def _note(keys: Sequence[EntryKey], note: Sequence[Any]) -> str:
    what, index, since, until = note
    return _NOTES[what].format(
        name=keys[index].name,
        since=from_milliseconds(int(since)).isoformat(),
        until=from_milliseconds(int(until)).isoformat(),
    )


def _intents(kept: Sequence[str]) -> tuple[list[Intent], list[str]]:
    """Return the intents that can be read, and a note for each that a newer version may have left."""
    intents, notes = [], []
    for fire_id, text in zip(kept[::2], kept[1::2], strict=True):
        try:
            intents.append(intent.decode(fire_id, text))
        except Exception as error:  # whatever it is, it must not end every replica that loads it
            notes.append(f"the intent {fire_id} cannot be read and is left as it is: {error!r}")
    return intents, notes


def _decision(claim: Claim) -> Iterator[Argument]:
    decision = claim.decision
    yield from claim.key
    yield str(decision.outcome)
    yield to_milliseconds(decision.first)
    yield to_milliseconds(decision.last)
    yield decision.count
    yield decision.reason
    yield claim.intent.fire.id if claim.intent else ""
    yield intent.encode(claim.intent) if claim.intent else ""
