"""Production code that runs up to its next call to the outside, waits there, and can go on in more than one way.

A *program* is production code between two quiet moments: a turn of an engine, a try for the lease, a run of a task.
Whatever it asks of the outside (a command for Valkey, a publish, its trust) goes over the *border*. To let it go on
from there with an answer, it is run again from its start, with the answers that it was given before. So one and the
same point can be left in several ways, and nothing of the production code has to be made for that.

A *thread* is a program with the answers so far. Threads are kept in a tree and known by a number: what was run once is
never run again.
"""

from collections.abc import Hashable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol


class Request(NamedTuple):
    """What a program asks for: of what kind, and the rest."""

    kind: str
    content: Any = None


class Ended(NamedTuple):
    """A program is over, with this result."""

    result: Any
    kind: str = "ended"


#: The answer to a request to which no answer comes.
LOST = "lost"


class Suspended(BaseException):
    """A program has come to a request that has no answer yet."""

    def __init__(self, request: Request) -> None:
        self.request = request


class Border:
    """What the collaborators of production code ask; there is one for all programs, since one runs at a time."""

    def __init__(self) -> None:
        self._answers: tuple[Any, ...] = ()
        self._asked: list[Request] = []
        #: What ``uuid4().hex`` is while this program runs.
        self.token = ""

    def ask(self, kind: str, content: Hashable = None) -> Any:
        """Return the answer to this request, :data:`LOST` where none comes."""
        self._asked.append(Request(kind, content))
        if len(self._asked) > len(self._answers):
            raise Suspended(self._asked[-1])
        return self._answers[len(self._asked) - 1]

    @contextmanager
    def replay(self, answers: tuple[Any, ...], token: str) -> Iterator[list[Request]]:
        """Give these answers in the block; yields what is asked, as a list that grows."""
        self._answers, self._asked, self.token = answers, [], token
        yield self._asked


class Program(Protocol):
    """Hashable; ``run`` does the same whenever it gets the same answers. ``token`` is its one fresh token."""

    token: str

    def run(self) -> Hashable:
        """Run it over the border; return what it comes to."""


@dataclass(slots=True)
class _Node:
    program: Program
    asked: tuple[Request, ...]
    answers: tuple[Any, ...]
    point: Request | Ended
    next: dict[Any, int] = field(default_factory=dict)


class Threads:
    """The tree of threads."""

    def __init__(self, border: Border) -> None:
        self._border = border
        self._nodes: list[_Node] = []
        self._begun: dict[Program, int] = {}

    def begin(self, program: Program) -> int:
        """Return the thread of ``program`` at its first request."""
        thread = self._begun.get(program)
        if thread is None:
            thread = self._begun[program] = self._add(program, (), ())
        return thread

    def point(self, thread: int) -> Request | Ended:
        """Return where a thread waits, or how it ended."""
        return self._nodes[thread].point

    def answer(self, thread: int, answer: Any) -> int:
        """Return the thread that goes on from ``thread`` with this answer."""
        node = self._nodes[thread]
        following = node.next.get(answer)
        if following is None:
            following = node.next[answer] = self._add(node.program, (*node.answers, answer), node.asked)
        return following

    def _add(self, program: Program, answers: tuple[Any, ...], before: tuple[Request, ...]) -> int:
        with self._border.replay(answers, program.token) as asked:
            try:
                point: Request | Ended = Ended(program.run())
            except Suspended as suspended:
                point = suspended.request
        assert tuple(asked[: len(before)]) == before, f"{program} does not do the same each time"
        self._nodes.append(_Node(program, tuple(asked), answers, point))
        return len(self._nodes) - 1
