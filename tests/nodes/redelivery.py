"""Redelivery without the wait for a worker that looks for what is to be delivered again."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from kombu import Connection

#: Seconds between two looks.
LOOK = 1.0


@contextmanager
def restoring(url: str, visibility_timeout: float) -> Iterator[None]:
    """Be another consumer of a Redis-like broker, and give back what is out for longer than the visibility timeout.

    A worker of kombu 5.5 looks for it every hundred seconds only, and one that was killed as it looked keeps all others
    from it for five minutes.
    """
    over = threading.Event()

    def restore() -> None:
        with Connection(url, transport_options={"visibility_timeout": visibility_timeout}) as connection:
            while not over.wait(LOOK):
                connection.default_channel.qos.restore_visible(interval=1)

    thread = threading.Thread(target=restore, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
