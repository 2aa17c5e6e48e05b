"""What an error of a publish says of the broker."""

from typing import Any

import pytest
from amqp import exceptions as amqp
from kombu import Connection
from kombu.exceptions import OperationalError
from redis import exceptions as redis

from celery_leased_beat.outages import is_outage

REDIS, RABBIT = Connection("redis://nowhere"), Connection("amqp://nowhere")
#: How redis-py tells the answer to one of several commands.
PIPELINED = "Command # 1 (LPUSH reports ...) of pipeline caused error: "


def wrapped(error: Exception) -> Exception:
    """The error as kombu hands it on."""
    outer = OperationalError(str(error))
    outer.__cause__ = error
    return outer


OF_THE_BROKER: list[Any] = [
    (REDIS, redis.ConnectionError("Connection refused")),
    (REDIS, redis.TimeoutError("Timeout reading from socket")),
    (REDIS, redis.AuthenticationError("invalid username-password pair")),
    (REDIS, redis.ReadOnlyError("You can't write against a read only replica.")),
    (REDIS, redis.OutOfMemoryError("command not allowed when used memory > 'maxmemory'.")),
    (REDIS, redis.ResponseError("MISCONF Redis is configured to save RDB snapshots")),
    (REDIS, redis.ResponseError(f"{PIPELINED}NOREPLICAS Not enough good replicas to write.")),
    (REDIS, redis.ResponseError("BUSY Redis is busy running a script.")),
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
    (RABBIT, amqp.FrameSyntaxError("Table type b'headers' not handled by amqp.")),
    (RABBIT, amqp.NotFound("NOT_FOUND - no exchange 'gone'")),
    (RABBIT, amqp.PreconditionFailed("PRECONDITION_FAILED - message size")),
]


def cases(found: list[Any]) -> Any:
    ids = [f"{type(error).__name__}: {error}"[:60] for _, error in found]
    return pytest.mark.parametrize(("connection", "error"), found, ids=ids)


@cases(OF_THE_BROKER)
def test_what_every_message_would_meet_is_an_outage(connection: Connection, error: Exception) -> None:
    assert is_outage(error, connection)
    assert is_outage(wrapped(error), connection)


@cases(OF_THE_MESSAGE)
def test_what_this_message_alone_meets_is_none(connection: Connection, error: Exception) -> None:
    assert not is_outage(error, connection)
    assert not is_outage(wrapped(error), connection)
