"""A worker that is killed before, during and after a body: another one runs it, and it takes effect once.

The one exception is the limit that docs/guarantees.md states: between the body's end and the record of it.
"""

import os
import signal
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

import pytest

from tests.nodes.proxy import Proxy, script
from tests.nodes.redelivery import restoring
from tests.nodes.waiting import wait_until
from tests.processes.happenings import dispatch_slow
from tests.processes.options import Options
from tests.processes.stage import Stage

BODY = 2.0
VISIBILITY_TIMEOUT = 4.0
#: The message comes back after the visibility timeout, and waits for the hold of the run that died: 15 s.
COMES_AGAIN = 60.0


@pytest.mark.usefixtures("redelivery")
@pytest.mark.stage(entries={}, workers=1, concurrency=1, visibility_timeout=VISIBILITY_TIMEOUT)
class TestAWorkerWithItsPool:
    @pytest.fixture
    def redelivery(self, stage: Stage) -> Iterator[None]:
        with restoring(stage.options.broker, VISIBILITY_TIMEOUT):
            yield

    @pytest.fixture
    def worker_options(self, options: Options, broker_proxy: Proxy, lease_proxy: Proxy) -> Options:
        return replace(options, broker=broker_proxy.url, backend=lease_proxy.url)

    def test_before_and_during_the_body(self, stage: Stage) -> None:
        """Of one process's messages one is in its body, and the others wait in the worker."""
        messages = {dispatch_slow(stage.options.broker, BODY) for _ in range(3)}
        wait_until(lambda: begun(stage), "one of the bodies has begun")
        kill(stage)
        during = set(begun(stage))
        stage.workers[0].container.start()

        wait_until(lambda: set(ended(stage)) == messages, "all bodies have come to their end", COMES_AGAIN)
        stage.drained(COMES_AGAIN)
        assert begun(stage) == {message: 2 if message in during else 1 for message in messages}
        assert ended(stage) == dict.fromkeys(messages, 1)

    def test_after_the_body_and_its_record(self, stage: Stage, broker_proxy: Proxy) -> None:
        """Its message was not acknowledged, so it comes again, and is dropped."""
        message = in_a_body(stage)
        acknowledgement = broker_proxy.hold(b"ZREM", "request")
        wait_until(lambda: ended(stage)[message], "the body has come to its end")
        acknowledgement.wait()
        kill(stage)
        # What was held back must not arrive: a dead machine sends nothing any more.
        broker_proxy.cut()
        acknowledgement.release()
        assert len(stage.left()) == 1
        stage.workers[0].container.start()

        stage.drained(COMES_AGAIN)
        assert (begun(stage), ended(stage)) == ({message: 1}, {message: 1})

    def test_the_limit_after_the_body_and_before_its_record(self, stage: Stage, lease_proxy: Proxy) -> None:
        message = in_a_body(stage)
        record = lease_proxy.hold(script("mark"), "request")
        wait_until(lambda: ended(stage)[message], "the body has come to its end")
        record.wait()
        kill(stage)
        lease_proxy.cut()
        record.release()
        stage.workers[0].container.start()

        wait_until(lambda: ended(stage)[message] == 2, "the body has come to its end once more", COMES_AGAIN)
        stage.drained(COMES_AGAIN)
        assert begun(stage) == {message: 2}


def in_a_body(stage: Stage) -> str:
    """Return the id of the one message that the worker has, once its body has begun."""
    message = dispatch_slow(stage.options.broker, BODY)
    wait_until(lambda: begun(stage) and len(stage.left()) == 1, "the body has begun")
    return message


def kill(stage: Stage) -> None:
    """End the worker with its pool at once, as the death of its machine does."""
    os.killpg(stage.workers[0].pid, signal.SIGKILL)
    stage.workers[0].wait_ended()


def begun(stage: Stage) -> Counter[str]:
    return Counter(row.id for row in stage.sink.rows() if not row.done)


def ended(stage: Stage) -> Counter[str]:
    return Counter(row.id for row in stage.sink.rows() if row.done)
