"""What befalls the lease's key and the holder's way to it, while the server lives."""

from tests.nodes.proxy import Proxy
from tests.nodes.waiting import wait_until
from tests.processes.stage import Stage


def test_a_deleted_lease_is_taken_again_and_nothing_is_lost(stage: Stage) -> None:
    stage.beats(2)
    stage.holder()
    stage.handled_each(2)
    term = stage.lease_value()

    stage.client.delete(stage.lease_key)
    wait_until(lambda: stage.lease_value() not in ("", term), "the lease of a new term")
    stage.handled_each(3)

    stage.assert_clean()


def test_a_foreign_token_is_respected_and_nobody_fires_beside_it(stage: Stage) -> None:
    stage.beats(2)
    stage.holder()
    stage.handled_each(2)

    stage.client.set(stage.lease_key, "foreign", px=20_000)
    stage.quiet()
    handled = len(stage.sink.done())
    stage.stays(lambda: stage.lease_value() == "foreign", "the foreign token stays", 2 * stage.options.ttl)
    assert len(stage.sink.done()) == handled

    stage.client.delete(stage.lease_key)
    stage.holder()
    stage.handled_each(3)
    stage.assert_clean()


def test_a_flushed_server_costs_no_instant_and_doubles_none(stage: Stage) -> None:
    stage.beats(2)
    stage.holder()
    stage.handled_each(2)
    # What is on its way while the server loses its data is at-least-once, and says so in docs/guarantees.md.
    stage.between_instants()

    stage.client.flushall()
    stage.holder()
    stage.handled_each(3)

    stage.assert_clean()


def test_a_holder_cut_off_from_the_lease_alone_stops_and_another_goes_on(stage: Stage, lease_proxy: Proxy) -> None:
    cut_off = stage.beat("cut-off", backend=lease_proxy.url)
    assert stage.holder() is cut_off
    stage.beat("other")
    stage.handled_each(2)

    lease_proxy.freeze()
    stage.holder(other_than=cut_off)
    stage.handled_each(3)
    lease_proxy.thaw()
    stage.handled_each(2)

    stage.assert_clean()


def test_a_holder_cut_off_from_the_broker_alone_lets_another_try(stage: Stage, broker_proxy: Proxy) -> None:
    cut_off = stage.beat("cut-off", broker=broker_proxy.url)
    assert stage.holder() is cut_off
    stage.beat("other")
    stage.handled_each(2)

    broker_proxy.freeze()
    stage.holder(other_than=cut_off, seconds=60)
    stage.handled_each(3)
    broker_proxy.thaw()
    stage.handled_each(2)

    stage.assert_clean()
