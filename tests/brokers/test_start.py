"""Starting on RabbitMQ: without a server for the lease, and without RabbitMQ."""

import json
from pathlib import Path
from typing import Any

from tests.brokers.entries import SETTINGS
from tests.brokers.stand import APP
from tests.nodes.celery import BeatNode, beat
from tests.nodes.waiting import holds_for, wait_until

#: Nobody listens there.
BROKER = "amqp://guest:secret@127.0.0.1:1//"


def start(folder: Path, **settings: Any) -> BeatNode:
    conf = json.dumps({**SETTINGS, "broker_url": BROKER, **settings})
    node = beat(APP, "beat", folder=folder, environment={"CONF": conf, "SINK": "redis://127.0.0.1:1", "VALKEY_URL": ""})
    node.container.start()
    return node


def test_a_beat_without_a_server_for_its_lease_ends_with_one_clear_line(tmp_path: Path) -> None:
    node = start(tmp_path)
    assert node.wait_ended() == 1
    log = node.logs()
    (line,) = [line for line in log.splitlines() if "leased_beat_backend" in line]
    assert line.startswith("celery_leased_beat: leased_beat_backend is not set")
    assert "Traceback" not in log
    assert "secret" not in log


def test_a_beat_that_comes_up_before_its_broker_waits_for_it(server_url: str, tmp_path: Path) -> None:
    node = start(tmp_path, leased_beat_backend=server_url)
    try:
        wait_until(lambda: "the broker is out of reach" in node.logs(), "a line that says so")
        holds_for(node.alive, "the beat lives", seconds=2)
        assert node.logs().count("the broker is out of reach") == 1
        assert "secret" not in node.logs()
    finally:
        node.teardown()
