"""An app whose lease lives on a server that a test has prepared; its broker is a plain Valkey."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from examples.valkey import Server
from tests.brokers.stand import Stand
from tests.processes.sink import Sink

#: How much of each log a failure shows.
LOG_LINES = 60


@pytest.fixture
def serve(server: Server, tmp_path: Path) -> Iterator[Callable[..., Stand]]:
    """Starts the app with its lease at a URL, and ends it after the test."""
    with ExitStack() as stack:
        broker, sink = stack.enter_context(Server()), stack.enter_context(Server())

        def start(
            backend: str, transport_options: dict[str, Any] | None = None, *, beats: int = 1, **changes: Any
        ) -> Stand:
            settings = {
                "broker_url": broker.url,
                "leased_beat_backend": backend,
                "leased_beat_transport_options": transport_options,
                **changes,
            }
            return stack.enter_context(Stand(settings, Sink(sink.url), tmp_path, beats=beats))

        yield start
    for log in sorted(tmp_path.glob("*.log")):
        # Shown with a failure, as captured output of the teardown.
        print(f"--- the end of {log.name}", *log.read_text(errors="replace").splitlines()[-LOG_LINES:], sep="\n")
