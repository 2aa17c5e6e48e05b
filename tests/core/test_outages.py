"""What an error of a publish says of the broker."""

from pathlib import Path
from typing import Any

import pytest
from amqp import exceptions as amqp
from celery import Celery
from celery.utils import cached_property
from kombu import Connection
from kombu.exceptions import OperationalError
from redis import exceptions as redis

from celery_leased_beat.outages import is_outage

REDIS, RABBIT = Connection("redis://nowhere"), Connection("amqp://nowhere")
#: How redis-py tells the answer to one of several commands.
PIPELINED = "Command # 1 (LPUSH reports ...) of pipeline caused error: "


def met(error: Exception, *, wrapped: bool) -> Exception:
    """The error as a publish hands it on that met it, ``wrapped`` where kombu takes it for the broker's."""

    def fail(*_: Any, **__: Any) -> None:
        raise error

    with Connection("memory://") as connection:
        producer = connection.Producer()
        producer.channel.basic_publish = fail
        try:
            producer.publish({})
        except Exception as cause:
            if not wrapped:
                return cause
            outer = OperationalError(str(cause))
            outer.__cause__ = cause
            return outer
    raise AssertionError("it was published")


OF_THE_BROKER: list[Any] = [
    (REDIS, redis.ConnectionError("Connection refused")),
    (REDIS, redis.TimeoutError("Timeout reading from socket")),
    (REDIS, redis.AuthenticationError("invalid username-password pair")),
    (REDIS, redis.ReadOnlyError("You can't write against a read only replica.")),
    (REDIS, redis.OutOfMemoryError("command not allowed when used memory > 'maxmemory'.")),
    (REDIS, redis.ResponseError("MISCONF Redis is configured to save RDB snapshots")),
    (REDIS, redis.ResponseError(f"{PIPELINED}NOREPLICAS Not enough good replicas to write.")),
    (REDIS, redis.ResponseError("BUSY Redis is busy running a script.")),
    (REDIS, redis.TryAgainError("Multiple keys request during rehashing of slot")),
    (REDIS, OperationalError("no answer")),
    (RABBIT, amqp.ConnectionForced("CONNECTION_FORCED - broker forced connection closure")),
    (RABBIT, amqp.RecoverableConnectionError("Socket was disconnected")),
    (RABBIT, ConnectionResetError("Connection reset by peer")),
    (RABBIT, TimeoutError("timed out")),
]
OF_THE_MESSAGE: list[Any] = [
    (REDIS, KeyError("Queue 'reports' missing from task_queues")),
    (REDIS, redis.ResponseError(f"{PIPELINED}WRONGTYPE Operation against a key holding the wrong kind of value")),
    (REDIS, redis.NoPermissionError("this user has no permissions to access one of the keys")),
    (REDIS, ValueError("cannot be encoded")),
    (RABBIT, KeyError("no such codec")),
    (RABBIT, amqp.FrameError("FRAME_ERROR - type 2, frame_too_large")),
    (RABBIT, amqp.AMQPNotImplementedError("NOT_IMPLEMENTED - immediate=true")),
    (RABBIT, amqp.FrameSyntaxError("Table type b'headers' not handled by amqp.")),
    (RABBIT, amqp.NotFound("NOT_FOUND - no exchange 'gone'")),
    (RABBIT, amqp.MessageNacked()),
    (RABBIT, amqp.PreconditionFailed("PRECONDITION_FAILED - message size")),
]


def cases(found: list[Any]) -> Any:
    ids = [f"{type(error).__name__}: {error}"[:60] for _, error in found]
    return pytest.mark.parametrize(("connection", "error"), found, ids=ids)


@pytest.mark.parametrize("wrapped", [True, False])
@cases(OF_THE_BROKER)
def test_what_every_message_would_meet_is_an_outage(connection: Connection, error: Exception, wrapped: bool) -> None:
    assert is_outage(met(error, wrapped=wrapped), connection)


@pytest.mark.parametrize("wrapped", [True, False])
@cases(OF_THE_MESSAGE)
def test_what_this_message_alone_meets_is_none(connection: Connection, error: Exception, wrapped: bool) -> None:
    assert not is_outage(met(error, wrapped=wrapped), connection)


class Router:
    """Finds its routes in a file that is not there."""

    @cached_property
    def routes(self) -> str:
        return Path("/no/such/file").read_text()

    def __call__(self, *_: Any, **__: Any) -> str:
        return self.routes


@pytest.mark.parametrize("router", [lambda *_, **__: Path("/no/such/file").read_text(), Router()])
def test_what_a_router_of_ones_own_meets_is_none(router: Any) -> None:
    app = Celery("outages", broker="memory://", set_as_current=False)
    app.conf.task_routes = router
    with pytest.raises(FileNotFoundError) as caught:
        app.send_task("a.task")
    assert not is_outage(caught.value, REDIS)


@pytest.mark.parametrize("url", ["redis://127.0.0.1:1", "amqp://127.0.0.1:1"])
def test_a_connection_that_cannot_be_made_is_an_outage(url: str) -> None:
    with Connection(url) as connection, pytest.raises(Exception, match="refused") as caught:
        connection.ensure_connection(max_retries=1, interval_start=0)
    assert is_outage(caught.value, connection)
