"""What the demo shows while it runs: a live table on a terminal, plain lines elsewhere."""

import time
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Console, Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

#: Seconds between two plain lines about the state of things.
PERIOD = 5.0
#: The last announcements stand under the live tables, which take so many lines of the terminal; some always do.
TABLES, FEWEST = 20, 3

STYLES = {"holder": "bold green", "standby": "cyan", "killed": "red", "let go": "yellow"}


@dataclass(frozen=True)
class Replica:
    """One line of the first table."""

    name: str
    pid: int
    role: str
    term: int | None


@dataclass(frozen=True)
class Row:
    """One line of the second table: an entry, its last and next instant, and how many of its fires were handled."""

    entry: str
    timing: str
    last: datetime | None
    next: datetime | None
    handled: int


@dataclass(frozen=True)
class Scene:
    """How things stand."""

    replicas: Sequence[Replica]
    rows: Sequence[Row]

    @property
    def handled(self) -> int:
        return sum(row.handled for row in self.rows)


class Stage:
    """Shows scenes and says what happens."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._live = Live(console=console, auto_refresh=False) if console.is_terminal else None
        self._begin = self._shown = time.monotonic()
        self._said: list[str] = []

    def lit(self) -> AbstractContextManager[Any]:
        """The time in which the live table stands."""
        return self._live or nullcontext()

    def say(self, text: str) -> None:
        """Announce what happens."""
        line = f"{time.monotonic() - self._begin:5.1f} s  {text}"
        if self._live is None:
            self._print(line)
        self._said.append(line)

    def show(self, scene: Scene) -> None:
        """Show how things stand."""
        if self._live is not None:
            kept = max(FEWEST, self._console.height - TABLES)
            said = Text("\n".join(self._said[-kept:]))
            self._live.update(Group(_replicas(scene), _entries(scene), said), refresh=True)
        elif time.monotonic() - self._shown > PERIOD:
            self._shown = time.monotonic()
            self.say(f"{_summary(scene)}; {scene.handled} fires handled")

    def _print(self, line: str) -> None:
        self._console.print(line, markup=False, highlight=False, soft_wrap=True)


def _summary(scene: Scene) -> str:
    return ", ".join(f"{replica.name} {replica.role}" for replica in scene.replicas)


def _replicas(scene: Scene) -> Table:
    table = _table("three beats, one lease", "replica", "pid", "role", "term")
    for replica in scene.replicas:
        term = str(replica.term) if replica.term else ""
        table.add_row(replica.name, str(replica.pid), Text(replica.role, STYLES.get(replica.role, "")), term)
    return table


def _entries(scene: Scene) -> Table:
    title = f"the schedule: {scene.handled} fires handled (UTC)"
    table = _table(title, "entry", "timing", "last", "next", "handled")
    table.columns[-1].justify = "right"
    for line in scene.rows:
        table.add_row(line.entry, line.timing, _clock(line.last), _clock(line.next), str(line.handled))
    return table


def _table(title: str, *columns: str) -> Table:
    """Narrow: it has to fit into 80 columns."""
    return Table(*columns, title=title, title_justify="left", box=SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False)


def _clock(instant: datetime | None) -> str:
    if instant is None:
        return ""
    return f"{instant:%H:%M:%S}" if instant.date() == datetime.now(UTC).date() else f"{instant:%m-%d %H:%M}"
