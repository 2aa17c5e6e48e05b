"""A fire becomes a message: one publish, over a connection of our own, in a bounded time, never retried by a library.

Every publish has a delivery id of its own, so that the worker can tell a second message of one fire (another delivery)
from a redelivery of the same. Errors are told apart for the engine: ``BrokerError`` is the connection's, anything else
concerns this fire alone.
"""

import logging
from collections.abc import Mapping
from contextlib import suppress
from typing import Any
from uuid import uuid4

from celery import Celery
from celery.result import denied_join_result
from kombu import Connection

from celery_leased_beat.engine import Intent
from celery_leased_beat.errors import BrokerError
from celery_leased_beat.events import is_our_task
from celery_leased_beat.headers import fire_header
from celery_leased_beat.outages import came_to_the_broker, is_outage
from celery_leased_beat.store import without_retries

logger = logging.getLogger(__name__)

#: The longest that one connect, and one answer of the broker, may take (seconds). A turn is bounded by it, and with it
#: the time after which a holder that cannot publish is known to be useless.
TIMEOUT = 4.0

#: What a transport has to be told so that it neither waits nor tries again by itself. A transport ignores what is not
#: its own: the first four are Redis's and Sentinel's, the next three RabbitMQ's, the last four kombu's connect loop.
_BOUNDED: Mapping[str, Any] = {
    "socket_timeout": TIMEOUT,
    "socket_connect_timeout": TIMEOUT,
    "socket_keepalive": True,
    "retry_on_timeout": False,
    "confirm_publish": True,
    "read_timeout": TIMEOUT,
    "write_timeout": TIMEOUT,
    "max_retries": 1,
    "interval_start": 0,
    "interval_step": 0,
    "interval_max": 0,
}


class Publisher:
    """Enqueues fires on the broker of one app; satisfies the engine's ``Dispatcher``."""

    def __init__(self, app: Celery, namespace: str) -> None:
        self._app = app
        self._namespace = namespace
        self._connection: Connection | None = None

    def publish(self, intent: Intent) -> None:
        """Enqueue the message of ``intent``. Raises ``BrokerError`` for the connection, anything else for this fire.

        After an error of a broker the next publish opens a new connection, to the next one where several are given.
        """
        connection = self._connected()
        try:
            with denied_join_result():  # else a result backend subscribes to each fire's result, and never lets go
                self._send(connection, intent)
        except Exception as error:
            outage = is_outage(error, connection)
            if came_to_the_broker(error):
                self.close()
            if outage:
                raise BrokerError(f"{type(error).__name__}: {error}") from error
            raise

    def reach(self) -> None:
        """Connect, where there is no connection. Raises ``BrokerError``."""
        self._connected()

    def close(self) -> None:
        """Close the connection, where there is one; never opens one. It still knows which broker's turn it is."""
        if self._connection is not None:
            try:
                self._connection.collect()
            except Exception:  # a broken connection may refuse even its end
                self._connection = None
                logger.debug("the connection to the broker did not close cleanly", exc_info=True)

    def _send(self, connection: Connection, intent: Intent) -> None:
        options = dict(intent.options)
        headers = {**options.pop("headers", {}), **fire_header(intent, self._namespace, delivery=str(uuid4()))}
        message: dict[str, Any] = {
            **options,
            "args": list(intent.args),
            "kwargs": dict(intent.kwargs),
            "headers": headers,
            "task_id": intent.fire.id,
            "producer": self._app.amqp.Producer(connection, auto_declare=False),
            "confirm_timeout": TIMEOUT,
            "mandatory": True,  # RabbitMQ confirms what it can route nowhere, and drops it
            "retry": False,
        }
        if is_our_task(intent.task):
            message["serializer"] = "json"
        task = self._app.tasks.get(intent.task)
        if task is None:
            self._app.send_task(intent.task, **message)
        else:
            task.apply_async(**message)

    def _bounds(self) -> dict[str, Any]:
        """Return what keeps the transport within its time. A Sentinel that is dead must leave time for the next one."""
        named = (self._app.conf.broker_transport_options or {}).get("sentinel_kwargs", {})
        return {**_BOUNDED, "sentinel_kwargs": without_retries(named, connect=TIMEOUT / 4, answer=TIMEOUT / 4)}

    def _connected(self) -> Connection:
        """Return an open connection. Whatever keeps it from opening is the connection's error: a refused login too."""
        if self._connection is None:
            self._connection = self._app.connection_for_write(connect_timeout=TIMEOUT, transport_options=self._bounds())
        try:
            self._connection.default_channel  # noqa: B018
        except Exception as error:
            connection = self._connection
            self.close()
            with suppress(Exception):  # of a URL that is broken
                connection.maybe_switch_next()
            raise BrokerError(f"{type(error).__name__}: {error}") from error
        return self._connection
