"""The brokers that the faults are meant for. What they hold survives each of these."""

import json
import os
import subprocess
from typing import Protocol

from kombu import Connection

from examples.valkey import HOST
from tests.chaos.servers import HarmedValkey
from tests.nodes.rabbitmq import LocalRabbitMQ, _program

QUEUE = "celery"


class Broker(Protocol):
    """A broker that can be harmed.

    ``fetched_before_noted``: a worker takes a message off its queue first, and only then notes it as unacknowledged.
    """

    port: int
    fetched_before_noted: bool

    def url_over(self, port: int) -> str:
        """The URL by which an app reaches it over ``port``, its own or a proxy's."""

    def crash(self) -> None: ...

    def stop(self) -> None: ...

    def start(self) -> None: ...

    def pause(self) -> None: ...

    def resume(self) -> None: ...

    def block(self) -> None:
        """Answer, but take no message."""

    def unblock(self) -> None: ...

    def cut(self) -> None:
        """Close all connections."""

    def left(self) -> list[str]:
        """The messages that it holds, waiting or unacknowledged."""

    def waiting(self) -> list[str]:
        """The task ids of the messages that wait, as they stand in the queue; nobody may consume meanwhile."""

    def close(self) -> None: ...


class ValkeyBroker(HarmedValkey):
    """A Valkey as a broker."""

    fetched_before_noted = True

    def url_over(self, port: int) -> str:
        return f"redis://{HOST}:{port}/0"

    def left(self) -> list[str]:
        return [*self.client.lrange(QUEUE, 0, -1), *self.client.hvals("unacked")]

    def waiting(self) -> list[str]:
        return [json.loads(message)["headers"]["id"] for message in self.client.lrange(QUEUE, 0, -1)]


class RabbitBroker(LocalRabbitMQ):
    """A RabbitMQ as a broker. Its command line takes about a second for each of its commands."""

    fetched_before_noted = False

    def url_over(self, port: int) -> str:
        return f"amqp://guest:guest@{HOST}:{port}//"

    def crash(self) -> None:
        self.kill()

    def block(self) -> None:
        """Let it be short of memory: it takes no more from those who publish."""
        self._control("set_vm_memory_high_watermark", "0.00001")

    def unblock(self) -> None:
        self._control("set_vm_memory_high_watermark", "0.4")

    def cut(self) -> None:
        self._control("close_all_connections", "chaos")

    def left(self) -> list[str]:
        listed = self._control("list_queues", "--no-table-headers", "name", "messages")
        rows = (line.split("\t") for line in listed.splitlines())
        return [f"{count} in {name}" for name, count in rows if name == QUEUE and count != "0"]

    def waiting(self) -> list[str]:
        """Without an acknowledgement they go back as the connection is closed."""
        with Connection(self.url) as connection:
            messages = iter(lambda: connection.default_channel.basic_get(QUEUE), None)
            return [message.headers["id"] for message in messages]

    def _control(self, *command: str) -> str:
        done = subprocess.run(
            [_program("rabbitmqctl"), "--quiet", *command],
            env={**os.environ, **self._environment()}, stdin=subprocess.DEVNULL, capture_output=True, text=True,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        return done.stdout
