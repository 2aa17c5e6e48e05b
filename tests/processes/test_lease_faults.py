"""What befalls the lease's key and the holder's way to it, while the server lives."""

import pytest

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


@pytest.mark.parametrize(("option", "seconds"), [("backend", 30), ("broker", 60)])
def test_a_holder_cut_off_from_one_server_alone_gives_way_to_another(
    stage: Stage, lease_proxy: Proxy, broker_proxy: Proxy, option: str, seconds: float
) -> None:
    proxy = {"backend": lease_proxy, "broker": broker_proxy}[option]
    cut_off = stage.beat("cut-off", **{option: proxy.url})
    assert stage.holder() is cut_off
    stage.beat("other")
    stage.handled_each(2)

    proxy.freeze()
    stage.holder(other_than=cut_off, seconds=seconds)
    stage.handled_each(3)
    proxy.thaw()
    stage.handled_each(2)

    stage.assert_clean()
