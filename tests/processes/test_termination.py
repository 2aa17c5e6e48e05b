"""SIGTERM in the middle of a call: the process ends soon, without an error; its successor loses and doubles nothing."""

import pytest

from tests.nodes.proxy import Proxy, Side, script
from tests.processes.stage import Stage

#: A replica releases within two seconds; the rest is Python's own end, on a machine that is busy.
SOON = 10.0


@pytest.mark.stage(entries={"tick": "all"}, workers=1)
@pytest.mark.parametrize("side", ["request", "reply"])
@pytest.mark.parametrize("moment", ["acquire", "renew", "claim", "publish"])
def test_sigterm_during_a_call_ends_the_process_soon_and_loses_nothing(
    stage: Stage, lease_proxy: Proxy, broker_proxy: Proxy, moment: str, side: Side
) -> None:
    proxy, pattern = (broker_proxy, b"LPUSH") if moment == "publish" else (lease_proxy, script(moment))
    if moment == "acquire":
        held = proxy.hold(pattern, side)
    stopped = stage.beat("stopped", backend=lease_proxy.url, broker=broker_proxy.url)
    if moment != "acquire":
        stage.holder()
        stage.handled_each(2)
        held = proxy.hold(pattern, side)

    held.wait()
    stopped.kill("SIGTERM")
    assert stopped.wait_ended(SOON) == 0
    assert "Traceback" not in stopped.logs()

    proxy.thaw()
    stage.beat("successor")
    stage.holder(other_than=stopped)
    stage.handled_each(3)
    stage.assert_clean()
