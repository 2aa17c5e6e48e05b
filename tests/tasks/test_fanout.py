"""One envelope, one message per listener: whatever fails, is retried or redelivered."""

import logging
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import pytest

from celery_leased_beat import Envelope, event, store
from celery_leased_beat.fires import listener_id
from tests.nodes.waiting import wait_until
from tests.tasks.stage import DigestDue, Stage

TRIGGER = "schedule:shop.digest_due"
NAMES = ("first", "second", "third")


class Received:
    """Three listeners of one event, and what each of them got."""

    def __init__(self, stage: Stage, **options: Any) -> None:
        self.envelopes: dict[str, list[Envelope]] = {name: [] for name in NAMES}
        for name in NAMES:
            stage.events.listener(DigestDue, name=name, **options)(self._listener(name))

    def _listener(self, name: str) -> Any:
        def handle(digest: DigestDue, envelope: Envelope) -> None:
            assert digest == DigestDue(envelope.payload["audience"])
            self.envelopes[name].append(envelope)

        return handle

    def counts(self) -> list[int]:
        return [len(envelopes) for envelopes in self.envelopes.values()]

    def ids(self) -> set[str]:
        return {envelope.id for envelopes in self.envelopes.values() for envelope in envelopes}


def test_a_trigger_that_fails_after_the_first_listener_reaches_each_once_under_its_own_id(stage: Stage) -> None:
    received = Received(stage)
    trigger = stage.send(TRIGGER, kwargs={"payload": {"audience": "vip"}})
    tried = stage.refuse("listener:shop.digest_due:second", times=3)  # a try over each connection, and one retry more
    with stage.worker():
        wait_until(lambda: stage.is_done(trigger), "the trigger is done")
        stage.wait_idle()
    assert tried() == 4
    assert received.counts() == [1, 1, 1]
    assert received.ids() == {trigger}


def test_a_listener_that_cannot_be_sent_to_does_not_keep_the_others_waiting(
    stage: Stage, caplog: pytest.LogCaptureFixture
) -> None:
    @stage.events.listener(DigestDue, queue="undefined")
    def nowhere(digest: DigestDue) -> None: ...

    received = Received(stage)
    stage.app.conf.task_create_missing_queues = False
    trigger = stage.send(TRIGGER, kwargs={"payload": {"audience": "vip"}})
    with stage.worker():
        wait_until(lambda: received.counts() == [1, 1, 1], "the others are sent to")
        wait_until(lambda: "Retry in" in caplog.text, "the trigger is retried for the one")
    assert not stage.is_done(trigger)
    assert f"the listener nowhere of the envelope {trigger} cannot be sent to: QueueNotFound" in caplog.text


def test_a_listener_that_fails_and_is_retried_leaves_the_others_alone(stage: Stage) -> None:
    received = Received(stage)
    attempts: list[int] = []

    @stage.events.listener(DigestDue)
    def fails_once(digest: DigestDue) -> None:
        attempts.append(1)
        if len(attempts) == 1:
            raise ValueError("once")

    trigger = stage.send(TRIGGER, kwargs={"payload": {"audience": "vip"}})
    with stage.worker():
        wait_until(lambda: stage.is_done(listener_id(trigger, "fails_once")), "the listener is done")
        stage.wait_idle()
    assert len(attempts) == 2
    assert received.counts() == [1, 1, 1]


def test_a_message_that_was_sent_and_not_recorded_is_dropped_when_it_comes_again(stage: Stage) -> None:
    received = Received(stage)
    trigger = stage.send(TRIGGER, delivery="one", kwargs={"payload": {"audience": "vip"}})
    with stage.worker():
        wait_until(lambda: stage.is_done(trigger), "the trigger is done")
        stage.wait_idle()
        stage.client.delete(stage.keys.marker(trigger), stage.keys.fanout(trigger))
        stage.send(TRIGGER, delivery="one", task_id=trigger, kwargs={"payload": {"audience": "vip"}})
        wait_until(lambda: stage.is_done(trigger), "the trigger is done again")
        stage.wait_idle()
    assert received.counts() == [1, 1, 1]


def test_a_retry_sends_the_rest_of_the_recorded_list_whatever_its_own_code_says(stage: Stage) -> None:
    received = Received(stage)
    records = store.Fanouts(stage.client, stage.keys)
    records.begin("one", {"first": {}, "gone": {"queue": "elsewhere", "headers": {"a": 1}}})
    records.sent("one", "first")
    with stage.worker():
        stage.send(TRIGGER, task_id="one", kwargs={"payload": {"audience": "vip"}})
        wait_until(lambda: stage.is_done("one"), "the trigger is done")
        stage.wait_idle()
    assert received.counts() == [0, 0, 0]
    (message,) = stage.messages("elsewhere")
    assert message["headers"]["task"] == "listener:shop.digest_due:gone"
    assert message["headers"]["id"] == listener_id("one", "gone")
    assert message["headers"]["a"] == 1
    assert message["content-type"] == "application/json"


def test_an_envelope_tells_the_instant_the_entry_and_the_term(stage: Stage) -> None:
    received = Received(stage)
    trigger = stage.send(TRIGGER, kwargs={"payload": {"audience": "vip"}})
    with stage.worker():
        wait_until(lambda: received.counts() == [1, 1, 1], "all listeners ran")
    assert received.envelopes["second"] == [
        Envelope(
            id=trigger,
            name="shop.digest_due",
            payload={"audience": "vip"},
            occurred_at=datetime(2026, 3, 1, 6, 30, tzinfo=UTC),
            metadata={"entry": "entry", "fire": trigger, "term": 7},
        )
    ]


def test_an_event_that_is_dispatched_at_runtime_reaches_the_same_listeners(stage: Stage) -> None:
    received = Received(stage)
    before = datetime.now(UTC)
    with stage.worker():
        envelope = stage.events.dispatch(DigestDue("vip"))
        wait_until(lambda: received.counts() == [1, 1, 1], "all listeners ran")
        stage.wait_idle()
    assert received.ids() == {envelope}
    occurred_at = received.envelopes["first"][0].occurred_at
    assert (occurred_at - before).total_seconds() == pytest.approx(0, abs=5)


def test_a_dispatch_needs_no_listener_and_takes_the_options_of_a_message(stage: Stage) -> None:
    stage.app.conf.task_serializer = "pickle"
    envelope = stage.events.dispatch(DigestDue(), queue="mail", headers={"tenant": "a"}, countdown=60)
    (message,) = stage.messages("mail")
    assert message["headers"]["task"] == "event:shop.digest_due"
    assert message["headers"]["id"] == envelope
    assert message["headers"]["tenant"] == "a"
    assert message["headers"]["eta"]
    assert message["headers"]["leased_beat"]["delivery"]
    assert message["content-type"] == "application/json"


def test_a_dispatch_that_the_broker_refused_once_is_a_delivery_of_its_own(stage: Stage) -> None:
    tried = stage.refuse("event:shop.digest_due", times=1)
    stage.events.dispatch(DigestDue())
    assert tried() == 2
    assert len(stage.messages()) == 1


def test_each_listener_has_its_own_queue(stage: Stage) -> None:
    Received(stage, queue="mail")
    with stage.worker():
        trigger = stage.send(TRIGGER, kwargs={"payload": {"audience": "vip"}})
        wait_until(lambda: stage.is_done(trigger), "the trigger is done")
    messages = stage.messages("mail")
    assert {message["headers"]["id"] for message in messages} == {listener_id(trigger, name) for name in NAMES}
    deliveries = {message["headers"]["leased_beat"]["delivery"] for message in messages}
    assert len(deliveries) == 3


def test_an_event_without_listeners_is_said_once(stage: Stage, caplog: pytest.LogCaptureFixture) -> None:
    @event("shop.nobody_cares")
    @dataclass(frozen=True)
    class NobodyCares:
        pass

    stage.schedule.daily(NobodyCares())
    with stage.worker():
        triggers = [stage.send("schedule:shop.nobody_cares", kwargs={"payload": {}}) for _ in range(2)]
        wait_until(lambda: all(map(stage.is_done, triggers)), "both triggers are done")
    warnings = [record for record in caplog.records if "nobody listens" in record.getMessage()]
    assert [record.levelno for record in warnings] == [logging.WARNING]


# -- in place --------------------------------------------------------------------------------------------------------


@pytest.fixture
def eager(namespace: str) -> Stage:
    """An app whose tasks run in place; neither its broker nor its lease's server is there."""
    return Stage("redis://127.0.0.1:1/0", namespace, settings={"task_always_eager": True})


def test_a_dispatch_runs_in_place_without_any_server(eager: Stage) -> None:
    received = Received(eager)
    envelope = eager.events.dispatch(DigestDue("vip"))
    assert received.counts() == [1, 1, 1]
    assert received.ids() == {envelope}


def test_a_listener_that_fails_in_place_is_retried_in_place(eager: Stage) -> None:
    attempts: list[int] = []

    @eager.events.listener(DigestDue, max_retries=2)
    def fails(digest: DigestDue) -> None:
        attempts.append(1)
        raise ValueError("always")

    eager.events.dispatch(DigestDue())
    assert len(attempts) == 3


def test_a_dispatch_in_place_to_no_one_is_no_error(eager: Stage) -> None:
    assert eager.events.dispatch(DigestDue())
