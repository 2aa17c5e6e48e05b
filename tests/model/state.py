"""One state of the world: small, hashable, and the same for worlds that differ only in who is who.

Server, engines, contenders, terms, letters and threads are numbers of what is kept elsewhere. Replicas, workers and
messages are kept in order, so that exchanging two of them makes no other state.
"""

from typing import NamedTuple

NONE = -1


class Replica(NamedTuple):
    """A process that competes for the lease: the thread of its election, and that of its engine."""

    contender: int
    engine: int
    #: The token of a request for the lease that has no answer, 0 for none.
    asked: int = 0
    #: The number of the term that it holds as far as it knows, else NONE.
    term: int = NONE
    trusted: bool = False
    #: Where its turn waits, else NONE.
    turn: int = NONE
    #: It has asked its trust, and what it then does comes late.
    late: bool = False


class Message(NamedTuple):
    """A message at the broker, of the task with the index ``task``.

    ``publish`` says which publish of the task it came from; a copy inherits it. One with the same content is told apart
    by its ``number``, and acknowledged apart. ``ready`` is False where a worker has taken it.
    """

    task: int
    publish: int
    letter: int
    delivery: str
    attempt: int
    number: int
    ready: bool


class Worker(NamedTuple):
    """A process that works on ``message``, as far as its thread ``work`` has come; NONE where it is idle."""

    work: int = NONE
    message: Message | tuple[()] = ()
    run: str = ""
    #: Whether the body of its run has completed.
    completed: bool = False


class Task(NamedTuple):
    """What is remembered of one task, which is a fire or a listener's, for names of things to come and for the laws."""

    #: What was decided of a fire, by the outcomes on record.
    decided: tuple[str, ...] = ()
    publishes: int = 0
    #: Of which publish each run came whose body completed.
    completed: tuple[int, ...] = ()
    #: How many runs may have completed once more, as the documents say.
    excused: int = 0


class State(NamedTuple):
    """The world at ``hour``, ``minute`` of the server's clock."""

    hour: int
    minute: int
    server: int
    replicas: tuple[Replica, ...]
    workers: tuple[Worker, ...]
    messages: tuple[Message, ...]
    tasks: tuple[Task, ...]
    #: How many tokens were made.
    tokens: int
    #: How many faults may still come.
    faults: int


def renumbered(state: State) -> State:
    """Return ``state`` with the lowest numbers for messages of one content."""
    if not any(message.number for message in state.messages):
        return state
    held = [worker.message._replace(ready=True) for worker in state.workers if worker.message]
    known = sorted({*held, *(message._replace(ready=True) for message in state.messages)})
    contents = [message._replace(number=0) for message in known]
    numbers = {message: contents[:at].count(contents[at]) for at, message in enumerate(known)}

    def rename(message: Message) -> Message:
        return message._replace(number=numbers[message._replace(ready=True)])

    workers = (
        worker._replace(message=rename(worker.message)) if worker.message else worker for worker in state.workers
    )
    return state._replace(messages=tuple(sorted(map(rename, state.messages))), workers=tuple(sorted(workers)))
