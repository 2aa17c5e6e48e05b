"""The same tests over each broker: trigger, fan-out, retry, delay, and a broker that is lost and comes back."""

from datetime import UTC, datetime, timedelta
from uuid import uuid4

from celery import Celery

from celery_leased_beat import Envelope
from tests.brokers.brokers import Broker
from tests.brokers.entries import DELAY, LISTENERS, NAME, SETTINGS
from tests.brokers.stand import Found, Stand
from tests.nodes.waiting import wait_until
from tests.processes.sink import Row

#: How long the broker stays away (seconds): longer than a lease of these tests.
AWAY = 4.0
SLOW = "listener:stage.slow:slow"


def test_a_trigger_runs_its_job_once_per_instant(stand: Stand) -> None:
    stand.reached("report", 3)
    assert stand.settled().doubled == []


def test_an_event_reaches_each_of_its_listeners_once(stand: Stand) -> None:
    rows = stand.reached("first", 3)
    found = stand.settled()
    envelopes = [{row.id for row in stand.rows(listener)} for listener in LISTENERS]
    assert {row.id for row in rows} <= set.intersection(*envelopes)
    assert found.doubled == []


def test_a_listener_that_failed_is_tried_again(stand: Stand) -> None:
    rows = stand.reached("flaky", 2)
    assert {int(stand.sink.client.get(f"count:{row.id}")) for row in rows} == {2}


def test_a_delayed_message_comes_when_its_delay_is_over(stand: Stand) -> None:
    rows = stand.reached("delayed", 2)
    assert all(lateness(row) > DELAY - 1 for row in rows)
    wait_until(lambda: any(lateness(row) < DELAY + 1 for row in stand.rows("delayed")), "one that comes right then", 60)


def test_a_broker_that_is_lost_and_comes_back_costs_what_catch_up_says(stand: Stand, broker: Broker) -> None:
    stand.reached("report", 2)
    put_off = send_twice(stand, broker)

    begin = datetime.now(UTC)
    broker.lose()
    stand.stays(AWAY)
    broker.bring_back()
    stand.reached("report", int(AWAY))
    end = datetime.now(UTC)
    # Celery 5.5 looks for lost messages every hundred seconds.
    found = stand.settled(seconds=150, vanish=broker.vanish)

    assert found.doubled == []
    slack = timedelta(seconds=2)
    assert [lost for lost in found.missing if not begin - slack < lost[2] < end] == []
    # How many depends on how soon a Sentinel promotes another server.
    assert left_out("latest", found), "of `latest` only the newest instant comes"
    assert left_out("skip", found) >= AWAY - 2
    wait_until(lambda: starts(stand, put_off) > 2, "the message that was put off")
    assert [row.id for row in stand.rows("slow")].count(put_off) == 1
    assert stand.beat.alive()


def send_twice(stand: Stand, broker: Broker) -> str:
    """Send two copies of one delivery, so that the second meets the run of the first and is put off."""
    app = Celery(NAME, set_as_current=False)
    app.conf.update(**SETTINGS, **broker.settings)
    envelope = Envelope(str(uuid4()), "stage.slow", {"seconds": 1.5}, datetime.now(UTC))
    message = {
        "kwargs": {"envelope": envelope.to_message()}, "task_id": envelope.id, "serializer": "json",
        "headers": {"leased_beat": {"delivery": str(uuid4()), "envelope": envelope.id}},
    }  # fmt: skip
    for _ in range(2):
        app.send_task(SLOW, **message)
    wait_until(lambda: starts(stand, envelope.id) == 2, "both copies have come")
    wait_until(lambda: any(row.id == envelope.id for row in stand.rows("slow")), "one of them is done")
    app.close()
    return envelope.id


def starts(stand: Stand, task_id: str) -> int:
    return int(stand.sink.client.get(f"count:starts:{task_id}") or 0)


def lateness(row: Row) -> float:
    """How long after its instant it was handled, in seconds."""
    return row.at - row.due.timestamp()


def left_out(entry: str, found: Found) -> int:
    return len({instant for name, _, instant in found.missing if name == entry})
