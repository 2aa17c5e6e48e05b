"""What a schedule says, in short: its digest, and its outline, by which two of them can be told apart.

Both are the same in every process that has the same entries, whatever the order in which they were added.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, NamedTuple, Self

from kombu.utils.json import dumps

from celery_leased_beat.schedule import Entry

#: The outline of a larger schedule is not kept: 60 bytes an entry, for as long as replicas with it live.
LARGEST = 1000
#: How many names of each kind are told.
MOST_NAMES = 10


class Line(NamedTuple):
    """What an outline has of one entry: its timing's key, and a digest of all else."""

    timing: str
    rest: str


@dataclass(frozen=True, slots=True)
class Outline:
    """The lines of a schedule by the names of its entries."""

    lines: Mapping[str, Line]

    @classmethod
    def of(cls, entries: Iterable[Entry]) -> Self:
        """Return the outline of ``entries``."""
        return cls({entry.name: Line(entry.timing.key, _digest(_rest(entry))[:8]) for entry in entries})

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read what :attr:`text` gave. Raises ``ValueError`` or ``TypeError`` for what is none."""
        return cls({name: Line(*line) for name, line in dict(json.loads(text)).items()})

    @property
    def digest(self) -> str:
        """The digest of all lines."""
        return _digest(json.dumps(sorted(self.lines.items())))[:12]

    @property
    def text(self) -> str:
        """The outline as it is kept; empty where the schedule is too large."""
        return json.dumps(self.lines, separators=(",", ":")) if len(self.lines) <= LARGEST else ""

    def compare(self, other: "Outline") -> str:
        """Return in words what differs in ``other``."""
        mine, theirs = self.lines, other.lines
        common = [name for name in mine if name in theirs and mine[name] != theirs[name]]
        kinds = {
            "only here": mine.keys() - theirs.keys(),
            "only there": theirs.keys() - mine.keys(),
            "with another timing": {name for name in common if mine[name].timing != theirs[name].timing},
            "with other contents": {name for name in common if mine[name].timing == theirs[name].timing},
        }
        return "; ".join(f"{kind}: {_names(names)}" for kind, names in kinds.items() if names)


def _names(names: Iterable[str]) -> str:
    ordered = sorted(names)
    more = len(ordered) - MOST_NAMES
    return ", ".join(map(repr, ordered[:MOST_NAMES])) + (f" and {more} more" if more > 0 else "")


def _rest(entry: Entry) -> str:
    policy = entry.policy
    said: list[Any] = [entry.task, policy.catch_up, str(policy.grace), policy.limit, entry.lazy is not None]
    try:
        return str(dumps([*said, entry.args, entry.kwargs, entry.options], sort_keys=True))
    except (TypeError, ValueError):  # what no message can carry fails where it is sent, and not here
        return str(dumps(said))


def _digest(text: str) -> str:
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
