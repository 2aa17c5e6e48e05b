"""A server that does what it is asked, and whose answers come too late."""

from datetime import timedelta

import pytest

from celery_leased_beat import store
from celery_leased_beat.errors import StoreError
from celery_leased_beat.tasks.renewer import Renewer
from celery_leased_beat.tasks.run import Run
from examples.valkey import Server
from tests.nodes.proxy import Proxy


def test_starts_whose_answer_was_late_do_not_use_up_the_starts_of_an_attempt(
    server: Server, server_url: str, namespace: str
) -> None:
    keys, hold = store.Keys(namespace), timedelta(seconds=15)
    with Proxy(server.port) as proxy, store.connect(proxy.url, timeout=timedelta(seconds=1)) as client:
        known = store.Markers(client, keys, hold=hold)  # a digest does nothing where the script is not known
        known.start("other", "delivery", "run", 0)
        known.pause("other", "run")
        proxy.lose_replies = True
        for _ in range(8):
            run = Run("task", store.Markers(client, keys, hold=hold), Renewer())
            with pytest.raises(StoreError):
                run.start("delivery", 0)
            run.pause()
    with store.connect(server_url, timeout=timedelta(seconds=5)) as client:
        markers = store.Markers(client, keys, hold=hold)
        assert markers.start("task", "delivery", "run", 0).verdict is store.MarkerVerdict.OWN
