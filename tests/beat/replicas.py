"""Replicas that compete for one lease, in the test's own process: elections without an engine."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any
from uuid import uuid4

import redis

from celery_leased_beat.election import Election, Presence
from celery_leased_beat.engine import Term
from celery_leased_beat.store import Keys, Lease, Member, Roll, ServerClock, boottime, dedicated
from tests.nodes.waiting import wait_until

TTL = timedelta(seconds=1.5)
#: Long enough for an expiry, a renewal and two looks on a busy machine.
SOON = 15.0


class BrokenLease(Lease):
    """The lease, whose calls raise ``error`` as long as there is one."""

    error: Exception | None = None

    def observe(self) -> Any:
        self._fail()
        return super().observe()

    def acquire(self, token: str, replica: str) -> Any:
        self._fail()
        return super().acquire(token, replica)

    def renew(self, token: str, replica: str) -> Any:
        self._fail()
        return super().renew(token, replica)

    def _fail(self) -> None:
        if self.error is not None:
            raise self.error


class Replica:
    """One election, with an engine that makes progress unless told otherwise."""

    def __init__(
        self, url: str, namespace: str, name: str, ttl: timedelta = TTL, timeout: timedelta = TTL / 3, **own: Any
    ) -> None:
        clock, connection = ServerClock(), dedicated(url, timeout=timeout)
        self.lease = lease = BrokenLease(connection, Keys(namespace), ttl, clock)
        member = Member(**{"id": uuid4().hex, "replica": name, "entries": 1, "digest": "one"} | own)
        self.presence = Presence(Roll(connection, Keys(namespace), clock), member)
        self.changes: list[Term | None] = []
        self.busy = True
        self.namespace = namespace
        self.election = Election(lease, name, self.presence, ttl=ttl, on_change=self._note)
        self.election.start()

    def _note(self) -> None:
        self.changes.append(self.election.term())

    def holds(self) -> bool:
        if self.busy:
            self.election.progressed()
        return self.election.term() is not None

    @property
    def term(self) -> Term:
        term = self.election.term()
        assert term is not None
        return term

    def stop(self, seconds: float = 2.0) -> bool:
        return self.election.stop(boottime() + seconds)


#: Starts a replica of this name; its URL, and what it says of itself, are options.
Compete = Callable[..., Replica]
#: Puts a replica of this name and version on the roll.
Present = Callable[[str, str], Presence]


def elect(*replicas: Replica) -> Replica:
    """Wait until one of them trusts its lease, and return it; two at a time fail the test."""

    def one() -> list[Replica]:
        holders = [replica for replica in replicas if replica.holds()]
        assert len(holders) <= 1
        return holders

    return wait_until(one, "one replica holds the lease", SOON)[0]


def looks(client: redis.Redis) -> int:
    """How often a server was asked for the connection of the lease's holder, which a standby does with each look.

    After the second one of a standby, the answer to its first is known to it.
    """
    return int(client.info("commandstats").get("cmdstat_client|list", {"calls": 0})["calls"])
