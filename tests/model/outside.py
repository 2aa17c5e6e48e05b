"""What production code gets for its collaborators: each call goes over the border."""

import json
import sys
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, NamedTuple

import pytest
from celery import Celery
from kombu.exceptions import OperationalError
from redis import ConnectionPool
from redis.exceptions import ConnectionError as NoAnswerError
from redis.exceptions import ResponseError

from celery_leased_beat.engine import Term
from celery_leased_beat.errors import StoreError
from celery_leased_beat.headers import HEADER
from celery_leased_beat.store.channel import Command
from tests.model.border import LOST, Border
from tests.model.server import Refused

#: The delivery id of a publish, before the broker has the message: the world gives it a number then.
FRESH = "fresh"


class Letter(NamedTuple):
    """What a message says, but for its delivery id and its attempt. ``kwargs`` and ``header`` are JSON."""

    task: str
    task_id: str
    kwargs: str
    header: str


class Client:
    """A client of Valkey with a pool, as far as ``Pooled`` uses one."""

    connection_pool = ConnectionPool()

    def __init__(self, border: Border) -> None:
        self._border = border
        self._commands: list[Command] = []

    def pipeline(self, *, transaction: bool) -> "Client":
        assert not transaction
        return Client(self._border)

    def execute_command(self, *command: str | int) -> None:
        self._commands.append(command)

    def execute(self, *, raise_on_error: bool) -> list[Any]:
        assert not raise_on_error
        return _replies(self._border, self._commands, NoAnswerError)


class Connection:
    """The election's connection, as far as ``Lease`` uses one."""

    is_open = True

    def __init__(self, border: Border) -> None:
        self._border = border

    @contextmanager
    def call(self) -> Iterator[str]:
        yield "7"

    def execute(self, commands: Sequence[Command], patience: timedelta = timedelta()) -> list[Any]:
        if [command[0] for command in commands] == ["BLPOP"]:
            return [None]  # nobody waits in the model: when to look is the world's to say
        return _replies(self._border, commands, StoreError)


class Trust:
    """The engine's ``Trust``; progress counts for nothing here."""

    def __init__(self, border: Border) -> None:
        self._border = border

    def term(self) -> Term | None:
        return self._border.ask("trust")

    def fenced(self, term: Term) -> None:
        self._border.ask("fenced", term)

    def progressed(self) -> None: ...


def post_over(border: Border, app: Celery) -> None:
    """Let all messages of ``app`` go over the border: a letter, its delivery id and its attempt each."""

    def post(producer: Any = None, name: str = "", message: Any = None, **options: Any) -> None:
        headers = message.headers | options["headers"]
        header = dict(headers[HEADER])
        delivery = header.pop("delivery")
        letter = Letter(name, headers["id"], json.dumps(message.body[1]), json.dumps(header))
        if border.ask("publish", (letter, delivery, headers["retries"])) == LOST:
            raise OperationalError("no answer")

    app.amqp.send_task_message = post


@dataclass(frozen=True)
class FreshId:
    """What ``uuid4`` returns: as ``hex`` the program's token, as text the id of a delivery."""

    hex: str

    def __str__(self) -> str:
        return FRESH


@contextmanager
def fresh_ids_from(border: Border) -> Iterator[None]:
    """Let the world say what is fresh, in every module of the package."""
    with pytest.MonkeyPatch.context() as patch:
        for name, module in list(sys.modules.items()):
            if name.startswith("celery_leased_beat") and getattr(module, "uuid4", None) is uuid.uuid4:
                patch.setattr(module, "uuid4", lambda: FreshId(border.token))
        yield


def _replies(border: Border, commands: Sequence[Command], error: type[Exception]) -> list[Any]:
    replies = border.ask("commands", tuple(map(tuple, commands)))
    if replies == LOST:
        raise error("no answer")
    return [_thawed(reply) for reply in replies]


def _thawed(reply: Any) -> Any:
    if isinstance(reply, Refused):
        return ResponseError(reply.text)
    return [_thawed(element) for element in reply] if isinstance(reply, tuple) else reply
