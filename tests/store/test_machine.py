"""Three holders, forced expiry, theft, lost replies and outages, in any order that hypothesis finds.

The model knows what was decided: the instants of one entry up to a watermark. The laws are: never two trusted
holders for one term, no watermark moves back, each instant is decided exactly once, and a writer whose token is not the
lease's changes nothing.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import redis
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    rule,
    run_state_machine_as_test,
)

from celery_leased_beat.engine import Claim, EntryKey, Intent, Position, Term, Verdict
from celery_leased_beat.errors import FencedError, StoreError
from celery_leased_beat.fires import Fire, fire_id, from_milliseconds
from celery_leased_beat.plan import Decision, Outcome
from celery_leased_beat.store import Keys, Lease, Ledger, LedgerReader, Markers, ServerClock, connect, dedicated
from celery_leased_beat.store.intent import decode
from examples.valkey import Server
from tests.nodes.proxy import Proxy
from tests.store.conftest import EPOCH, load_scripts, records, server_milliseconds

TTL = timedelta(seconds=15)
ENTRY = EntryKey("sync", "every 1000")
FAULTS = st.sampled_from(["none", "none", "none", "reply lost", "cut", "refused"])


class Replica:
    """A holder as election and engine would be one, without their threads, behind a path of its own."""

    def __init__(self, number: int, port: int, keys: Keys) -> None:
        self.name = f"replica {number}"
        self.proxy = Proxy(port)
        self.client = connect(self.proxy.url, timeout=TTL / 3)
        self.lease = Lease(dedicated(self.proxy.url, timeout=TTL / 3), keys, TTL, ServerClock())
        self.ledger = Ledger(self.client, keys, ServerClock(), replica=self.name)
        self.asked: str | None = None
        self.term: Term | None = None
        self.loaded: Term | None = None
        self.watermark = EPOCH
        self.unanswered: list[Claim] = []

    def close(self) -> None:
        self.lease.close()
        self.client.close()
        self.proxy.__exit__()


class Store(RuleBasedStateMachine):
    """The rules. ``fault`` says what becomes of the call on its way.

    None has a precondition: whether a call gets through a cut path may differ from run to run, and hypothesis wants the
    same choices again.
    """

    def __init__(self, server: Server, client: redis.Redis) -> None:
        super().__init__()
        self.namespace = uuid4().hex
        self.keys = Keys(self.namespace)
        self.client = client
        self.replicas = [Replica(number, server.port, self.keys) for number in range(3)]
        self.start = from_milliseconds(server_milliseconds(client)) - timedelta(days=1)
        self.watermark = self.start

    @property
    def trusted(self) -> list[Replica]:
        return [replica for replica in self.replicas if replica.term]

    @property
    def idle(self) -> list[Replica]:
        return [replica for replica in self.replicas if not replica.term]

    @initialize()
    def enrol(self) -> None:
        boot = self.replicas[0]
        held = boot.lease.acquire("boot", "boot")
        assert held is not None
        boot.ledger.load(Term(held.term, "boot"), [ENTRY], {ENTRY: Position(self.start, self.start)}, resume=True)
        boot.lease.release("boot")

    # The lease

    @rule(which=st.integers(0, 2), fault=FAULTS, how=st.sampled_from(["as it is", "expired", "replaced"]))
    def take(self, which: int, fault: str, how: str) -> None:
        if not self.idle:
            return
        replica = self.idle[which % len(self.idle)]
        seen = self.client.get(self.keys.lease)
        if how == "expired":
            self.client.delete(self.keys.lease)
        replica.asked = replica.asked or uuid4().hex
        with suppress(StoreError), self._path(replica, fault):
            lease, token, name = replica.lease, replica.asked, replica.name
            held = lease.replace(token, name, seen) if how == "replaced" and seen else lease.acquire(token, name)
            assert (held is not None) == (seen is None or how != "as it is" or seen.split()[0] == token)
            replica.term = Term(held.term, token) if held else None
            replica.asked = None

    @rule(which=st.integers(0, 2), fault=FAULTS)
    def renew(self, which: int, fault: str) -> None:
        if not self.trusted:
            return
        replica, term = self._trusted(which)
        is_holder, before = self._is_holder(term), self._dump()
        with suppress(StoreError), self._path(replica, fault):
            held = replica.lease.renew(term.token, replica.name)
            assert (held is not None) == is_holder
            replica.term = term if held else None
        assert is_holder or self._dump() == before

    @rule(which=st.integers(0, 2), fault=FAULTS)
    def release(self, which: int, fault: str) -> None:
        if not self.trusted:
            return
        replica, term = self._trusted(which)
        is_holder, before = self._is_holder(term), self._dump()
        replica.term = None
        with suppress(StoreError), self._path(replica, fault):
            assert replica.lease.release(term.token) == is_holder
        assert is_holder or self._dump() == before

    @rule(value=st.sampled_from(["", "thief 3 1 run host", "junk"]))
    def lose(self, value: str) -> None:
        """Let the lease expire, or a foreign value stand in it."""
        if not self.trusted:
            return
        self.client.delete(self.keys.lease)
        if value:
            self.client.set(self.keys.lease, value, px=90_000)

    # The ledger

    @rule(which=st.integers(0, 2), fires=st.integers(1, 3), older=st.integers(0, 3), fault=FAULTS)
    def claim(self, which: int, fires: int, older: int, fault: str) -> None:
        if not self.trusted:
            return
        replica, term = self._trusted(which, first=lambda replica: bool(replica.unanswered))
        if not self._load(replica, term):
            return
        replica.unanswered = claims = replica.unanswered or self._claims(replica, fires, older)
        with suppress(StoreError), self._path(replica, fault), self._fence(replica, term):
            verdicts = replica.ledger.claim(term, claims)
            replica.unanswered = []
            replica.watermark = claims[-1].decision.last
            fired = [verdict for claim, verdict in zip(claims, verdicts, strict=True) if claim.intent]
            assert fired == [Verdict.CLAIMED] * len(fired)

    @rule(which=st.integers(0, 2), count=st.integers(1, 3), fault=FAULTS)
    def commit(self, which: int, count: int, fault: str) -> None:
        if not self.trusted:
            return
        replica, term = self._trusted(which)
        enqueued = list(self._known_intents())[:count] or ["unknown"]
        with suppress(StoreError), self._path(replica, fault), self._fence(replica, term):
            replica.ledger.commit(term, enqueued)
            assert not set(enqueued) & set(self.client.hkeys(self.keys.intents))

    @rule(which=st.integers(0, 2), fault=FAULTS)
    def abandon(self, which: int, fault: str) -> None:
        if not self.trusted:
            return
        replica, term = self._trusted(which)
        for fire, text in list(self._known_intents().items())[:1]:
            with suppress(StoreError), self._path(replica, fault), self._fence(replica, term):
                replica.ledger.abandon(term, decode(fire, text), "failed", "refused")

    @rule(run=st.uuids())
    def work(self, run: UUID) -> None:
        for fire in list(self._known_intents())[:1]:
            Markers(self.client, self.keys).start(fire, "delivery", run.hex, 0)
            assert not self.client.hexists(self.keys.intents, fire)

    # The laws

    @invariant()
    def no_term_has_two_trusted_holders(self) -> None:
        terms = [replica.term.number for replica in self.trusted if replica.term]
        assert len(terms) == len(set(terms))

    @invariant()
    def no_watermark_moves_back(self) -> None:
        watermark = self._watermark()
        assert watermark >= self.watermark
        self.watermark = watermark

    @invariant()
    def each_instant_is_decided_once(self) -> None:
        decided: Counter[datetime] = Counter()
        for record in records(LedgerReader(self.client, self.keys)):
            if record.outcome != "failed":
                decided.update(record.first + timedelta(seconds=n) for n in range(record.count))
        seconds = (self._watermark() - self.start) // timedelta(seconds=1)
        assert decided == Counter(self.start + timedelta(seconds=n) for n in range(1, seconds + 1))

    def teardown(self) -> None:
        for replica in self.replicas:
            replica.close()

    def _known_intents(self) -> dict[str, str]:
        """The intents of claims that were answered: no other fire can have been enqueued."""
        unanswered = {claim.intent.fire.id for replica in self.trusted for claim in replica.unanswered if claim.intent}
        return {fire: text for fire, text in self.client.hgetall(self.keys.intents).items() if fire not in unanswered}

    def _watermark(self) -> datetime:
        states = self.client.hvals(self.keys.state)
        return from_milliseconds(int(states[0].split()[0])) if states else self.start

    def _trusted(self, which: int, first: Callable[[Replica], bool] = lambda _: True) -> tuple[Replica, Term]:
        trusted = [replica for replica in self.trusted if first(replica)] or self.trusted
        replica = trusted[which % len(trusted)]
        assert replica.term is not None
        return replica, replica.term

    def _load(self, replica: Replica, term: Term) -> bool:
        if replica.loaded != term:
            with suppress(StoreError), self._fence(replica, term):
                loaded = replica.ledger.load(term, [ENTRY], {}, resume=False)
                replica.watermark = loaded.positions[ENTRY].watermark
                replica.loaded, replica.unanswered = term, []
        return replica.loaded == term

    def _claims(self, replica: Replica, fires: int, older: int) -> list[Claim]:
        at = [replica.watermark + timedelta(seconds=n) for n in range(1, older + fires + 1)]
        claims = [Claim(ENTRY, Decision(Outcome.COALESCED, at[0], at[older - 1], older, "older"))] if older else []
        for instant in at[older:]:
            fire = Fire(fire_id(self.namespace, ENTRY.name, instant), ENTRY.name, instant)
            claims.append(Claim(ENTRY, Decision(Outcome.FIRED, instant, instant, 1), Intent(fire, "job:sync")))
        return claims

    @contextmanager
    def _path(self, replica: Replica, fault: str) -> Iterator[None]:
        if fault == "cut":
            replica.proxy.cut()
        replica.proxy.lose_replies = fault == "reply lost"
        replica.proxy.refuse = fault == "refused"
        try:
            yield
        finally:
            replica.proxy.lose_replies = replica.proxy.refuse = False

    @contextmanager
    def _fence(self, replica: Replica, term: Term) -> Iterator[None]:
        """Hold a writer to the fence: with a token that is not the lease's it fails, and changes nothing."""
        is_holder, before = self._is_holder(term), self._dump()
        try:
            yield
            assert is_holder
        except FencedError:
            assert not is_holder
            replica.term = None
        finally:
            assert is_holder or self._dump() == before

    def _is_holder(self, term: Term) -> bool:
        lease = self.client.get(self.keys.lease)
        return lease is not None and lease.split()[0] == term.token

    def _dump(self) -> list[Any]:
        keys, pipeline = self.keys, self.client.pipeline(transaction=False)
        pipeline.mget(keys.lease, keys.term)
        for key in (keys.state, keys.current, keys.intents):
            pipeline.hgetall(key)
        pipeline.xrange(keys.history)
        return pipeline.execute()


def test_the_laws_hold_whatever_happens(server: Server, client: redis.Redis) -> None:
    load_scripts(client)
    run_state_machine_as_test(
        lambda: Store(server, client),
        settings=settings(
            max_examples=50, stateful_step_count=50, deadline=None, suppress_health_check=list(HealthCheck)
        ),
    )
