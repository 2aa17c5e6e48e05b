"""The election while its server is silent, refuses, or is started again."""

from datetime import timedelta

import pytest
import redis
from redis.exceptions import ResponseError

from celery_leased_beat.election import watch
from celery_leased_beat.errors import StoreError
from celery_leased_beat.store import Keys, boottime
from examples.valkey import Server
from tests.beat.replicas import SOON, TTL, Compete, elect, looks
from tests.nodes.proxy import Proxy
from tests.nodes.waiting import holds_for, wait_until


@pytest.mark.parametrize("timeout", [TTL / 3, timedelta(seconds=SOON)], ids=["renewals fail", "a renewal hangs"])
def test_no_trust_outlives_the_ttl_while_the_server_is_silent(compete: Compete, timeout: timedelta) -> None:
    with Server() as server:
        replica = compete(url=server.url, timeout=timeout)
        term = elect(replica).term
        server.pause()
        # Whatever was answered was sent before now: the lease ends by then, and trust in it is to end a bit sooner.
        ends_by = boottime() + TTL.total_seconds()

        def trusts_in_time_or_not_at_all() -> bool:
            asked = boottime()
            return not replica.holds() or asked < ends_by

        holds_for(trusts_in_time_or_not_at_all, "no trust beyond the TTL", 3 * TTL.total_seconds())
        server.resume()
        wait_until(lambda: replica.holds() and replica.term != term, "elected anew", SOON)


ERRORS = {
    "no answer": StoreError("no answer"),
    "an error of a script": ResponseError("WRONGTYPE"),
    "a connection that the client did not expect to break": ConnectionResetError(),
    "an error of our own": ValueError("of our own"),
}


@pytest.mark.parametrize("error", ERRORS.values(), ids=ERRORS.keys())
def test_whatever_a_call_raises_a_holder_ends_with_its_trust_and_a_standby_stays_one(
    compete: Compete, client: redis.Redis, keys: Keys, error: Exception
) -> None:
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


def test_a_server_out_of_reach_is_told_once_and_so_is_its_return(
    compete: Compete, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", logger="celery_leased_beat")
    with Server() as server:
        server.stop()
        replica = compete(url=server.url)
        wait_until(lambda: caplog.messages, "it says so", SOON)
        holds_for(lambda: not replica.holds(), "a standby", 2 * TTL.total_seconds())
        assert ["cannot be looked at" in message for message in caplog.messages] == [True]
        server.start()
        elect(replica)
    assert sum("can be looked at again" in message for message in caplog.messages) == 1


def test_after_a_restart_the_last_holder_goes_first(
    compete: Compete, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", logger="celery_leased_beat")
    monkeypatch.setattr(watch, "HEAD_START", 600.0)  # so that the other one is not first because the machine is busy
    with Server() as server:
        holder = compete("a:1", url=server.url)
        term = elect(holder).term
        with redis.Redis.from_url(server.url) as client:
            other = compete("b:1", url=server.url)
            wait_until(lambda: looks(client) >= 2, "a standby that has seen the holder", SOON)
        assert not other.holds()
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
    assert caplog.text.count("the lease's server was restarted or replaced") == 1


def test_a_lease_that_outlives_a_restart_goes_on_under_the_same_term_in_another_run(compete: Compete) -> None:
    with Server() as server:
        holder = compete("a:1", url=server.url, ttl=timedelta(seconds=SOON))  # no renewal comes after what follows
        term = elect(holder).term
        with redis.Redis(port=server.port) as client:
            client.persist(f"clb:{{{holder.namespace}}}:lease")  # however long the restart takes
        server.stop()
        server.start()
        wait_until(lambda: holder.holds() and holder.term != term, "the lease is trusted again", SOON)
        assert (holder.term.number, holder.term.token) == (term.number, term.token)
        assert holder.term.run_id not in (None, term.run_id)
        assert holder.term.resumes


def test_a_stop_waits_no_longer_than_its_deadline_for_a_server_that_is_silent(compete: Compete) -> None:
    with Server() as server:
        replica = compete(url=server.url, ttl=timedelta(seconds=SOON), timeout=timedelta(seconds=SOON))
        elect(replica)
        server.pause()
        assert not replica.stop(seconds=0.1)  # while the call that releases the lease still waits for its answer
        assert replica.election.term() is None
        server.resume()
        assert replica.stop(seconds=SOON)


def test_a_term_resumes_in_each_run_of_its_server_also_in_one_that_it_was_in_before(
    compete: Compete, keys: Keys
) -> None:
    """A failover to a replica and back: what the first server has lost meanwhile is known to the holder alone."""
    with Server() as first, Server() as second, Proxy(first.port) as proxy:
        replica = compete(url=proxy.url)
        begun = elect(replica).term
        before = begun
        for old, new in ((first, second), (second, first)):
            with redis.Redis.from_url(old.url) as source, redis.Redis.from_url(new.url) as target:
                proxy.refuse = True
                proxy.cut()
                target.restore(keys.lease, 0, source.dump(keys.lease), replace=True)
                proxy.refuse = False
                proxy.redirect(new.port)
            known = before.run_id
            wait_until(lambda known=known: replica.holds() and replica.term.run_id != known, "it goes on", SOON)
            assert (replica.term.token, replica.term.resumes) == (begun.token, True)
            before = replica.term
        assert before.run_id == begun.run_id
