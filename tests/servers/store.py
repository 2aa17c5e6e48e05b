"""All that a replica and a worker ask of the lease's server."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Self

from celery_leased_beat.engine import Claim, EntryKey, Intent, Term, Verdict
from celery_leased_beat.errors import FencedError, StoreError
from celery_leased_beat.fires import Fire
from celery_leased_beat.plan import Decision, Outcome
from celery_leased_beat.store import (
    Fanout,
    Fanouts,
    Held,
    Keys,
    Lease,
    Ledger,
    LedgerReader,
    Markers,
    MarkerVerdict,
    Member,
    Observation,
    Roll,
    RollReader,
    ServerClock,
    Snapshot,
    Start,
    connect,
    dedicated,
)

TTL = timedelta(seconds=3)
REPLICA = "host:1:test"
ENTRY = EntryKey("entry", "every 1000")
MEMBER = Member("id", REPLICA, 1, "digest", "1.0")


@dataclass(frozen=True)
class Call:
    """One call: ``good`` tells whether its answer says the truth where the lease and the marker are ours."""

    make: Any
    good: Any

    def says_the_truth(self) -> bool:
        """Make the call; return whether it was answered. The answer must be true: a refusal is no answer."""
        try:
            answer = self.make()
        except FencedError:
            raise  # the lease was taken for another's
        except StoreError:
            return False
        assert self.good(answer), f"a false answer: {answer!r}"
        return True


class Store:
    """The parts of the store over one URL."""

    def __init__(self, url: str, namespace: str, options: Mapping[str, Any] | None = None) -> None:
        keys, clock = Keys(namespace), ServerClock()
        self.keys = keys
        self.client = connect(url, options=options, timeout=TTL / 3, key=keys.lease)
        self.connection = dedicated(url, options=options, timeout=TTL / 3, key=keys.lease)
        self.clock = clock
        self.lease = Lease(self.connection, keys, TTL, clock)
        self.ledger = Ledger(self.client, keys, clock, replica=REPLICA)
        self.roll = Roll(self.connection, keys, clock)
        self.roll_reader = RollReader(self.client, keys)
        self.markers = Markers(self.client, keys)
        self.fanouts = Fanouts(self.client, keys)
        self.reader = LedgerReader(self.client, keys)
        self.term = Term(0, "")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.lease.close()
        self.client.close()

    def take(self, token: str = "token") -> Held:
        """Take the lease, which is free; begin a term and a run."""
        held = self.lease.acquire(token, REPLICA)
        assert held
        self.term = Term(held.term, token)
        self.ledger.load(self.term, [ENTRY], {}, resume=False)
        self.markers.start("task", "delivery", "run", 0)
        return held

    def calls(self) -> dict[str, Call]:
        """Every call, in an order in which each can succeed; the release comes last."""
        lease, ledger, markers, term = self.lease, self.ledger, self.markers, self.term
        return {
            "acquire": Call(lambda: lease.acquire(term.token, REPLICA), lambda got: isinstance(got, Held)),
            "renew": Call(lambda: lease.renew(term.token, REPLICA), lambda got: isinstance(got, Held)),
            "observe": Call(lease.observe, lambda got: isinstance(got, Observation) and got.value),
            "attend": Call(lambda: self.roll.attend(MEMBER, "{}"), lambda got: got == ()),
            "wait": Call(lambda: lease.wait_for_wake(0.01), lambda got: got is None),
            "load": Call(lambda: ledger.load(term, [ENTRY], {}, resume=False), lambda got: ENTRY in got.positions),
            "claim": Call(self._claim, lambda got: got == [Verdict.CLAIMED]),
            "commit": Call(lambda: ledger.commit(term, ["fire"]), lambda got: got is None),
            "keep": Call(self._keep, lambda got: got is None),
            "abandon": Call(self._abandon, lambda got: got is None),
            "start": Call(
                lambda: markers.start("task", "delivery", "run", 0), lambda got: got == Start(MarkerVerdict.OWN)
            ),
            "hold": Call(lambda: markers.renew("task", "run"), bool),
            "pause": Call(lambda: markers.pause("task", "run"), bool),
            "done": Call(lambda: markers.done("task", "run"), bool),
            "fan out": Call(lambda: self.fanouts.begin("id", {"one": {}}), lambda got: isinstance(got, Fanout)),
            "sent": Call(lambda: self.fanouts.sent("id", "one"), lambda got: got is None),
            "read": Call(lambda: self.reader.snapshot([ENTRY], _moment()), lambda got: isinstance(got, Snapshot)),
            "roll": Call(self.roll_reader.members, lambda got: got in ((), (MEMBER,))),
            "outline": Call(lambda: self.roll_reader.outline(MEMBER.digest), lambda got: got in (None, "{}")),
            "leave": Call(lambda: self.roll.leave(MEMBER), lambda got: got is None),
            "release": Call(lambda: lease.release(term.token), lambda got: got is True),
        }

    def _claim(self) -> list[Verdict]:
        position = self.ledger.load(self.term, [ENTRY], {}, resume=False).positions[ENTRY]
        instant = position.watermark + timedelta(milliseconds=1)
        intent = Intent(Fire("fire", ENTRY.name, instant), "job:x", term=self.term.number)
        return self.ledger.claim(self.term, [Claim(ENTRY, Decision(Outcome.FIRED, instant, instant, 1, ""), intent)])

    def _keep(self) -> None:
        self.ledger.keep(self.term, [Intent(Fire("fire", ENTRY.name, _moment()), "job:x")])

    def _abandon(self) -> None:
        self.ledger.abandon(self.term, Intent(Fire("fire", ENTRY.name, _moment()), "job:x"), "failed", "a test")


def _moment() -> datetime:
    return datetime(2026, 1, 1, tzinfo=UTC)
