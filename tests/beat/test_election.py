"""The election against a real Valkey: who holds, who trusts, and how the lease changes hands."""

from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
import redis
from redis.exceptions import ResponseError

from celery_leased_beat.election import Election, Presence, watch
from celery_leased_beat.election.contender import LOOK, Contender
from celery_leased_beat.engine import Term
from celery_leased_beat.errors import StoreError
from celery_leased_beat.store import Keys, Lease, Member, Roll, ServerClock, boottime, dedicated
from examples.valkey import Server
from tests.nodes.proxy import Proxy
from tests.nodes.waiting import holds_for, wait_until

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


@pytest.fixture
def compete(server_url: str, namespace: str) -> Iterator[Callable[..., Replica]]:
    replicas: list[Replica] = []

    def compete(name: str = "a:1", url: str = server_url, **own: Any) -> Replica:
        replicas.append(Replica(url, namespace, name, **own))
        return replicas[-1]

    yield compete
    for replica in replicas:
        replica.stop()


@pytest.fixture
def keys(namespace: str) -> Keys:
    return Keys(namespace)


@pytest.fixture
def present(server_url: str, keys: Keys) -> Iterator[Callable[[str, str], Presence]]:
    """Puts a replica of a version on the roll, without an election."""
    opened = []

    def present(name: str, version: str) -> Presence:
        opened.append(dedicated(server_url, timeout=TTL))
        return Presence(Roll(opened[-1], keys, ServerClock()), Member(name, name, 1, "one", version))

    yield present
    for connection in opened:
        connection.close()


def elect(*replicas: Replica) -> Replica:
    """Wait until one of them trusts its lease, and return it; two at a time fail the test."""

    def one() -> list[Replica]:
        holders = [replica for replica in replicas if replica.holds()]
        assert len(holders) <= 1
        return holders

    return wait_until(one, "one replica holds the lease", SOON)[0]


def test_one_of_three_holds_and_the_others_stand_by(compete):
    replicas = [compete(f"host:{number}") for number in range(3)]
    holder = elect(*replicas)
    others = [replica for replica in replicas if replica is not holder]
    alone = lambda: holder.holds() and not any(other.holds() for other in others)  # noqa: E731
    holds_for(alone, "one holder", 2 * TTL.total_seconds())
    assert holder.changes == [holder.term]


def test_a_released_lease_goes_to_a_standby_under_a_higher_term(compete, client, keys):
    first = compete("a:1")
    before = elect(first).term
    second = compete("b:1")
    assert first.stop()
    assert first.election.term() is None
    assert elect(second).term.number > before.number
    assert client.get(keys.lease).startswith(second.term.token)


def test_a_deleted_lease_is_taken_again_under_a_new_term_and_token(compete, client, keys):
    replica = compete()
    before = elect(replica).term
    client.delete(keys.lease)
    wait_until(lambda: replica.holds() and replica.term != before, "a new term", SOON)
    assert replica.term.number > before.number
    assert replica.term.token != before.token
    assert replica.term.resumes


def test_a_foreign_token_is_left_alone_and_ends_the_trust(compete, client, keys):
    replica = compete()
    elect(replica)
    client.set(keys.lease, "foreign", px=60_000)
    wait_until(lambda: not replica.holds(), "the holder stands by", SOON)
    holds_for(lambda: not replica.holds(), "a standby", TTL.total_seconds())
    assert replica.stop()
    assert client.get(keys.lease) == "foreign"
    assert client.pttl(keys.lease) > 30_000


def test_a_holder_that_another_followed_does_not_resume(compete, client, keys):
    first, second = compete("a:1"), compete("b:1")
    holder = elect(first, second)
    other = second if holder is first else first
    client.set(keys.lease, "foreign", px=300)
    wait_until(lambda: not holder.holds(), "the holder stands by", SOON)
    new = elect(first, second)
    assert new.term.resumes == (new is not other)


def test_a_connection_that_is_killed_costs_trust_for_a_moment_and_not_the_term(compete, client):
    replica = compete()
    term = elect(replica).term
    # On its own a replica has nobody who could replace it in between.
    client.execute_command("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
    wait_until(lambda: len(replica.changes) == 2, "the lease is trusted again", SOON)
    assert replica.changes == [term, term]


def test_no_trust_outlives_the_ttl_while_the_server_is_silent(compete, server_url, namespace):
    with Server() as server:
        replica = compete(url=server.url)
        term = elect(replica).term
        server.pause()
        paused = boottime()
        wait_until(lambda: not replica.holds(), "trust ends", SOON)
        assert not replica.holds()
        holds_for(lambda: not replica.holds(), "no trust while nothing answers", 2 * TTL.total_seconds())
        assert boottime() - paused >= 2 * TTL.total_seconds()
        server.resume()
        wait_until(lambda: replica.holds() and replica.term != term, "elected anew", SOON)


ERRORS = {
    "no answer": StoreError("no answer"),
    "an error of a script": ResponseError("WRONGTYPE"),
    "a connection that the client did not expect to break": ConnectionResetError(),
    "an error of our own": ValueError("of our own"),
}


@pytest.mark.parametrize("error", ERRORS.values(), ids=ERRORS.keys())
def test_whatever_a_call_raises_a_holder_ends_with_its_trust_and_a_standby_stays_one(compete, client, keys, error):
    holder = compete("a:1")
    term = elect(holder).term
    standby = compete("b:1")
    standby.lease.error = error
    holder.lease.error = error
    wait_until(lambda: not holder.holds(), "trust ends", SOON)
    client.delete(keys.lease)
    nobody = lambda: not holder.holds() and not standby.holds()  # noqa: E731
    holds_for(nobody, "nobody holds what nobody can ask for", 2 * TTL.total_seconds())
    holder.lease.error = standby.lease.error = None
    new = elect(holder, standby).term
    assert new.number > term.number
    assert new.token != term.token


def test_a_server_out_of_reach_is_told_once(compete, caplog):
    caplog.set_level("INFO", logger="celery_leased_beat")
    replica = compete(url="redis://127.0.0.1:1")
    wait_until(lambda: caplog.messages, "it says so", SOON)
    holds_for(lambda: not replica.holds(), "a standby", 2 * TTL.total_seconds())
    assert ["cannot be looked at" in message for message in caplog.messages] == [True]


def test_standbys_log_nothing_and_do_not_look_in_step(compete, present, keys, server_url, caplog):
    caplog.set_level("INFO", logger="celery_leased_beat")
    elect(compete("a:1"))
    caplog.clear()
    waits: list[float] = []

    class Hasty(Lease):
        def wait_for_wake(self, seconds: float) -> None:
            waits.append(seconds)

    lease = Hasty(dedicated(server_url, timeout=TTL / 3), keys, TTL, ServerClock())
    contender = Contender(lease, "b:1", present("b:1", ""), trusted_for=TTL)
    assert not any(contender.attempt() for _ in range(50))
    lease.close()
    assert max(waits) <= LOOK
    assert max(waits) - min(waits) > LOOK / 10
    assert caplog.messages == []


def test_a_holder_without_progress_gives_the_lease_up_and_lets_another_try(compete):
    stuck = compete("a:1")
    elect(stuck)
    stuck.busy = False
    other = compete("b:1")
    assert elect(stuck, other) is stuck
    wait_until(other.holds, "the other one holds", SOON)
    assert not stuck.holds()


def test_a_holder_whose_connection_is_gone_is_replaced_before_its_ttl(compete, client, keys, server):
    with Proxy(server.port) as proxy:
        holder = compete("a:1", url=proxy.url)
        term = elect(holder).term
        standby = compete("b:1")
        holds_for(lambda: not standby.holds(), "a standby that has seen the holder", 1.2)
        # As a kill does: the server sees the connection end, and nothing answers any more. The key must not expire.
        client.persist(keys.lease)
        proxy.freeze()
        holder_id = client.get(keys.lease).split(" ")[2]
        client.execute_command("CLIENT", "KILL", "ID", holder_id)
        wait_until(standby.holds, "the standby replaced the holder", SOON)
        assert standby.term.number > term.number


def test_an_acquire_whose_reply_is_lost_is_recognised_as_won(compete, server, client, keys):
    client.script_flush()  # so that the script is sent by its source, which the proxy knows it by
    with Proxy(server.port) as proxy:
        held = proxy.hold(b"May this replica have the lease?", "reply")
        replica = compete(url=proxy.url, ttl=timedelta(seconds=SOON))  # so that it is asked again before its end
        held.wait()
        wait_until(lambda: client.exists(keys.lease), "the request had its effect", SOON)
        elect(replica)
        assert client.get(keys.lease).startswith(replica.term.token)
        number, _, before, _ = client.get(keys.term).split(" ")
        assert (int(number), before) == (replica.term.number, "-")


def test_a_wake_list_of_a_wrong_type_keeps_nobody_from_the_lease(compete, client, keys):
    client.set(keys.wake, "of no use")
    first = compete("a:1")
    elect(first)
    client.set(keys.wake, "of no use")
    second = compete("b:1")
    holds_for(lambda: not second.holds(), "a standby", 0.5)
    client.delete(keys.lease)
    elect(first, second)


def test_after_a_restart_the_last_holder_goes_first(compete, monkeypatch, client):
    monkeypatch.setattr(watch, "HEAD_START", 600.0)  # so that the other one is not first because the machine is busy
    with Server() as server:
        holder = compete("a:1", url=server.url)
        term = elect(holder).term
        other = compete("b:1", url=server.url)
        holds_for(lambda: not other.holds(), "a standby that has seen the holder", 1.0)
        server.stop()
        wait_until(lambda: not holder.holds(), "trust ends", SOON)
        holds_for(lambda: not other.holds(), "nobody", TTL.total_seconds())
        server.start()  # the lease has ended meanwhile
        wait_until(lambda: holder.holds() and holder.term.number > term.number, "elected anew", SOON)
        assert holder.term.resumes
        assert holder.term.settling
        holds_for(lambda: not other.holds(), "one holder", 1.0)
        # From now on it is a server like any other: whoever comes next need not wait.
        holder.stop()
        wait_until(other.holds, "the other one follows", SOON)
        assert not other.term.settling


def test_a_lease_that_outlives_a_restart_goes_on_under_the_same_term_in_another_run(compete):
    with Server() as server:
        holder = compete("a:1", url=server.url)
        term = elect(holder).term
        with redis.Redis(port=server.port) as client:
            client.persist(f"clb:{{{holder.namespace}}}:lease")  # however long the restart takes
        server.stop()
        server.start()
        wait_until(lambda: holder.holds() and holder.term != term, "the lease is trusted again", SOON)
        assert (holder.term.number, holder.term.token) == (term.number, term.token)
        assert holder.term.run_id not in (None, term.run_id)
        assert holder.term.resumes


def test_a_stop_waits_no_longer_than_its_deadline_for_a_server_that_is_silent(compete):
    with Server() as server:
        replica = compete(url=server.url, ttl=timedelta(seconds=SOON), timeout=timedelta(seconds=SOON))
        elect(replica)
        server.pause()
        assert not replica.stop(seconds=0.1)  # while the call that releases the lease still waits for its answer
        assert replica.election.term() is None
        server.resume()
        assert replica.stop(seconds=SOON)


def test_a_stop_may_be_called_again_and_before_the_start(compete, server_url, namespace):
    replica = compete()
    elect(replica)
    assert [replica.stop() for _ in range(3)] == [True, True, True]


def test_losing_and_gaining_is_logged_once_each(compete, client, keys, caplog):
    caplog.set_level("INFO", logger="celery_leased_beat")
    replica = compete()
    term = elect(replica).term
    client.delete(keys.lease)
    wait_until(lambda: replica.holds() and replica.term != term, "a new term", SOON)
    lines = [record.getMessage() for record in caplog.records if record.name.startswith("celery_leased_beat")]
    assert sum(line.startswith("elected") for line in lines) == 2
    assert sum(line.startswith("lost the lease") for line in lines) == 1


def test_the_value_of_the_lease_names_the_replica(compete, client, keys):
    elect(compete("shop-7:4711"))
    assert client.get(keys.lease).endswith("shop-7:4711")


def test_two_replicas_with_the_same_host_and_pid_are_two(compete):
    replicas = [compete("same:1"), compete("same:1")]
    elect(*replicas)
    holds_for(lambda: sum(replica.holds() for replica in replicas) <= 1, "one holder", TTL.total_seconds())


# -- versions --------------------------------------------------------------------------------------------------------


def test_a_holder_hands_over_to_a_newer_version_and_stands_by(compete, caplog):
    caplog.set_level("INFO", logger="celery_leased_beat")
    old = compete("a:1", version="1.9")
    term = elect(old).term
    new = compete("b:1", version="1.10")
    wait_until(lambda: new.holds() and not old.holds(), "the newer version holds", SOON)
    assert new.term.number > term.number
    holds_for(lambda: new.holds() and not old.holds(), "no snatching back", 2 * TTL.total_seconds())
    assert caplog.text.count("handed the lease of term") == 1


def test_a_holder_without_a_version_hands_over_to_one_with_any(compete):
    old = compete("a:1")
    elect(old)
    new = compete("b:1", version="1")
    wait_until(lambda: new.holds() and not old.holds(), "the one with a version holds", SOON)


@pytest.mark.parametrize("versions", [("2.0", "2.0"), ("2.0", "2"), ("2.0", "1.9"), ("2.0", ""), ("", "")])
def test_a_holder_keeps_its_lease_against_its_own_version_and_older_ones(compete, versions):
    first, second = versions
    holder = compete("a:1", version=first)
    elect(holder)
    other = compete("b:1", version=second)
    holds_for(lambda: holder.holds() and not other.holds(), "the same holder", 2 * TTL.total_seconds())


def test_of_several_newer_versions_the_newest_comes_to_hold(compete):
    old, newer, newest = (compete(f"{version}:1", version=version) for version in ("1", "2", "3"))
    wait_until(lambda: newest.holds() and not (old.holds() or newer.holds()), "the newest holds", SOON)


def test_an_older_one_holds_when_the_newer_one_stops_and_when_it_dies(compete, client, keys, server):
    with Proxy(server.port) as proxy:
        old, new = compete("a:1", version="1"), compete("b:1", version="2")
        wait_until(lambda: new.holds() and not old.holds(), "the newer version holds", SOON)
        assert new.stop()
        wait_until(old.holds, "the older one holds where no newer one lives", SOON)
        dying = compete("c:1", url=proxy.url, version="3")
        wait_until(lambda: dying.holds() and not old.holds(), "the newest version holds", SOON)
        proxy.freeze()
        client.execute_command("CLIENT", "KILL", "ID", client.get(keys.lease).split(" ")[2])
        wait_until(old.holds, "the older one holds where the newest one died", SOON)


def test_a_newer_one_that_leaves_a_free_lease_alone_is_waited_for_no_longer(compete, client, keys, caplog):
    old = compete("a:1", version="1")
    elect(old)

    def holds_beside_idle_one() -> bool:
        """Let a newer version say that it is there, and do nothing else."""
        client.hset(keys.replicas, "idle", f"{int(client.time()[0]) * 1000} 1 two 2.0 0 1 idle:1")
        client.pexpire(keys.replicas, 5000)
        return old.holds()

    wait_until(lambda: not holds_beside_idle_one(), "the older one hands over", SOON)
    wait_until(holds_beside_idle_one, "the older one holds again", SOON)
    assert "lay free though idle:1, version 2.0" in caplog.text
    holds_for(holds_beside_idle_one, "the older one keeps the lease", 1.0)


def test_a_replica_that_gave_the_lease_up_asks_nobody_to_hand_it_over(compete, caplog):
    old, stuck = compete("a:1", version="1"), compete("b:1", version="2")
    wait_until(lambda: not old.holds() and stuck.holds(), "the newer version holds", SOON)
    stuck.busy = False
    wait_until(old.holds, "the older one holds", SOON)
    wait_until(lambda: old.holds() and any(not one.ready for one in old.presence.seen.others), "it rests", SOON)
    holds_for(lambda: old.holds() and not stuck.holds(), "the older one goes on", TTL.total_seconds())


def test_the_last_holder_rescues_what_a_server_has_lost_before_it_stands_back(present):
    old, new = present("a", "1"), present("b", "2")
    assert new.admits()
    assert not old.admits()
    assert old.admits(rescues=True)


def test_the_death_of_a_newer_holder_keeps_no_older_one_waiting(present):
    old, new = present("a", "1"), present("b", "2")
    new.attend(7)
    assert not old.admits()
    assert old.admits(dead=7)


def test_a_replica_without_entries_never_takes_the_lease_and_is_on_the_roll(compete, client, keys):
    empty = compete("a:1", entries=0, version="9")
    wait_until(lambda: client.exists(keys.replicas), "it is on the roll", SOON)
    holds_for(lambda: not empty.holds() and not client.exists(keys.lease), "a free lease", TTL.total_seconds())
    other = compete("b:1", version="1")
    elect(other)
    holds_for(lambda: other.holds() and not empty.holds(), "the one with entries holds", TTL.total_seconds())


def test_who_stops_is_off_the_roll(compete, client, keys):
    first, second = compete("a:1"), compete("b:1")
    elect(first, second)
    wait_until(lambda: client.hlen(keys.replicas) == 2, "two on the roll", SOON)
    first.stop()
    assert client.hlen(keys.replicas) == 1
