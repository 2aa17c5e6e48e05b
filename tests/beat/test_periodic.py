"""A plain ``beat_schedule`` under the engine, on a real ledger and a real broker: what is sent, and what is not."""

import base64
import json
import logging
import pickle
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

import pytest
import redis
from celery import Celery
from celery.beat import BeatLazyFunc
from celery.schedules import BaseSchedule, schedstate, schedule
from kombu.utils.json import loads

from celery_leased_beat.binding.served import Served, served
from celery_leased_beat.engine import Engine
from celery_leased_beat.errors import BrokerError
from celery_leased_beat.fires import fire_id
from celery_leased_beat.publisher import Publisher
from celery_leased_beat.schedule import ScheduleBuilder
from celery_leased_beat.tasks import settings_for
from tests.beat.bench import SECOND, TICK, Bench, grid
from tests.nodes.waiting import wait_until


class Plain:
    """A plain app and one replica that serves it, driven turn by turn."""

    def __init__(self, url: str, namespace: str) -> None:
        self.app = Celery(namespace, broker=url, set_as_current=False)
        self.app.conf.result_expires = None
        self.bench = Bench(url, namespace)
        self.client = redis.Redis.from_url(url, decode_responses=True)

    def serve(self, **entries: dict[str, Any]) -> Engine:
        """Return an engine that serves these entries, and sends into the broker."""
        publisher = Publisher(self.app, self.bench.namespace)
        found = self.read(**entries)
        bench = self.bench
        return Engine(found.entries.values(), bench.ledger, publisher, bench.tenure, namespace=bench.namespace)

    def read(self, **entries: dict[str, Any]) -> Served:
        written = {name: {"task": "a.task", "schedule": TICK, **entry} for name, entry in entries.items()}
        self.app.conf.beat_schedule = written
        found = served(self.app, ScheduleBuilder(), settings_for(self.app))
        assert found.problems == ()
        return found

    def sent(self, engine: Engine, count: int = 1, queue: str = "celery") -> list[dict[str, Any]]:
        """Run turns until so many messages wait in a queue, and return them in order."""

        def enough() -> bool:
            engine.turn(self.bench.now())
            return bool(self.client.llen(queue) >= count)

        wait_until(enough, f"{count} messages in {queue}")
        return [json.loads(text) for text in reversed(self.client.lrange(queue, 0, -1))]


@pytest.fixture
def plain(server_url: str, namespace: str) -> Iterator[Plain]:
    plain = Plain(server_url, namespace)
    plain.bench.tenure.begin()
    yield plain
    plain.bench.lease.close()


def instants_of(messages: list[dict[str, Any]]) -> list[datetime]:
    return [datetime.fromisoformat(message["headers"]["leased_beat"]["instant"]) for message in messages]


def are_steps(gaps: list[timedelta], interval: timedelta) -> bool:
    """Whether each gap is one interval, or several where a busy machine has coalesced instants."""
    return bool(gaps) and all(gap and not gap % interval for gap in gaps)


def body_of(message: dict[str, Any]) -> Any:
    return loads(base64.b64decode(message["body"]))


class TestMessages:
    def test_a_message_has_what_plain_beat_sends_and_the_fire(self, plain: Plain) -> None:
        values = [1, Decimal("1.5"), datetime(2026, 6, 1, tzinfo=UTC), UUID(int=7)]
        options = {"priority": 3, "expires": 90, "headers": {"tenant": 7}}
        engine = plain.serve(entry={"args": values, "kwargs": {"named": "text"}, "options": options})
        message = plain.sent(engine, queue="celery\x06\x163")[0]  # as kombu calls the queue of a priority in Redis
        headers = message["headers"]
        fire = headers["leased_beat"]
        instant = datetime.fromisoformat(fire["instant"])
        assert headers["id"] == fire["fire"] == fire_id(plain.bench.namespace, "entry", instant)
        assert (headers["task"], headers["tenant"], headers["celery_beat_task"]) == ("a.task", 7, True)
        assert fire["entry"] == "entry"
        assert message["properties"]["priority"] == 3
        assert body_of(message)[:2] == [values, {"named": "text"}]
        left = datetime.fromisoformat(headers["expires"]) - plain.bench.now()
        assert timedelta(seconds=60) < left <= timedelta(seconds=90)

    def test_each_instant_is_one_message(self, plain: Plain) -> None:
        messages = plain.sent(plain.serve(entry={}), 5)
        assert len(set(instants_of(messages))) == len(messages)
        assert are_steps(grid(instants_of(messages)), TICK)

    def test_what_follows_a_task_goes_with_it(self, plain: Plain) -> None:
        after = plain.app.signature("after", (1,), {"named": 2})
        message = plain.sent(plain.serve(entry={"options": {"link": after, "link_error": [after]}}))[0]
        embedded = body_of(message)[2]
        assert [callback["task"] for callback in embedded["callbacks"]] == ["after"]
        assert [callback["kwargs"] for callback in embedded["errbacks"]] == [{"named": 2}]

    def test_the_entrys_queue_counts(self, plain: Plain) -> None:
        assert plain.sent(plain.serve(entry={"options": {"queue": "mail"}}), queue="mail")

    def test_task_routes_count_where_nobody_has_imported_the_task(self, plain: Plain) -> None:
        plain.app.conf.task_routes = {"a.*": {"queue": "routed"}}
        assert plain.sent(plain.serve(entry={}), queue="routed")

    def test_the_options_of_a_task_that_is_imported_count(self, plain: Plain) -> None:
        plain.app.conf.accept_content = ["json", "pickle"]

        @plain.app.task(name="a.task", shared=False, serializer="pickle", queue="own", expires=60)
        def task(number: int, when: datetime) -> None: ...

        when = datetime(2026, 6, 1, tzinfo=UTC)
        message = plain.sent(plain.serve(entry={"args": (1, when)}), queue="own")[0]
        assert message["content-type"] == "application/x-python-serialize"
        assert pickle.loads(base64.b64decode(message["body"]))[0] == [1, when]
        assert message["headers"]["expires"]

    def test_lazy_arguments_are_those_of_the_moment(self, plain: Plain) -> None:
        numbers = iter(range(1000))
        engine = plain.serve(entry={"args": [BeatLazyFunc(lambda: next(numbers)), "fixed"]})
        arguments = [body_of(message)[0] for message in plain.sent(engine, 3)]
        assert arguments[:3] == [[0, "fixed"], [1, "fixed"], [2, "fixed"]]

    def test_a_successor_sends_what_was_claimed_with_the_same_values(self, plain: Plain) -> None:
        values = [Decimal("1.5"), datetime(2026, 6, 1, tzinfo=UTC), b"\x00\xff"]
        bench = plain.bench
        bench.broker.error = BrokerError("gone")
        lazy = BeatLazyFunc(lambda: values[0])
        found = plain.read(entry={"args": [lazy, *values[1:]], "options": {"eta": values[1]}})
        first = bench.engine(*found.entries.values())
        wait_until(lambda: first.turn(bench.now()) and plain.client.hlen(bench.keys.intents), "an intent")
        bench.tenure.end()
        bench.tenure.begin()
        bench.broker.error = None
        bench.engine().turn(bench.now())
        intent = bench.broker.received[0]
        assert list(intent.args) == values
        assert intent.options["eta"] == values[1]


class Answers(BaseSchedule):
    """Answers as it is told."""

    def __init__(self, answer: Callable[[datetime], Any]) -> None:
        super().__init__()
        self.answer = answer

    def __repr__(self) -> str:
        return "Answers()"

    def is_due(self, last_run_at: datetime) -> Any:
        return self.answer(self.now())


class TestOthersGoOn:
    """An entry that cannot say when it is next stands aside."""

    def test_an_entry_that_fails_costs_the_others_nothing(self, plain: Plain, caplog: pytest.LogCaptureFixture) -> None:
        def fail(now: datetime) -> None:
            raise RuntimeError("no idea")

        engine = plain.serve(
            good={}, raises={"schedule": Answers(fail)}, none={"schedule": Answers(lambda now: None)},
            never={"schedule": Answers(lambda now: (False, None))}, year={"schedule": timedelta(days=365)},
            lazy={"args": [BeatLazyFunc(lambda: 1 / 0)]}, unkept={"args": [BeatLazyFunc(object)]},
        )  # fmt: skip
        with caplog.at_level(logging.WARNING):
            messages = plain.sent(engine, 30)
        assert {message["headers"]["leased_beat"]["entry"] for message in messages} == {"good"}
        assert are_steps(grid(instants_of(messages)), TICK)
        aside = sorted(record.args[0] for record in caplog.records if "cannot be planned" in record.msg)
        assert aside == ["lazy", "none", "raises", "unkept"]

    def test_a_schedule_that_looks_at_more_than_the_time_is_asked_again_and_again(self, plain: Plain) -> None:
        switched_on: list[datetime] = []
        entry = {"schedule": Answers(lambda now: (bool(switched_on), 1))}
        engine = plain.serve(entry=entry, others={"options": {"queue": "others"}})
        plain.sent(engine, 15, queue="others")
        assert plain.client.llen("celery") == 0
        switched_on.append(plain.bench.now())
        assert instants_of(plain.sent(engine))[0] > switched_on[0] - SECOND

    def test_a_schedule_of_their_own_is_due_when_it_says(self, plain: Plain) -> None:
        class Seconds(schedule):
            def is_due(self, last_run_at: datetime) -> Any:
                return schedstate(self.now() - last_run_at >= SECOND, 1)

        instants = instants_of(plain.sent(plain.serve(entry={"schedule": Seconds(1)}), 3))
        assert are_steps(grid(instants), SECOND)
        assert all(instant.microsecond == 0 for instant in instants)
