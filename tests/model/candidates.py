"""Who competes for the lease in the model of the election, as a state."""

from dataclasses import dataclass
from typing import NamedTuple

from celery_leased_beat.errors import StoreError
from celery_leased_beat.store import Lease
from tests.model.state import NONE


class Candidate(NamedTuple):
    """One replica: its contender, its belief, and the call that it has made and that has not reached the server yet."""

    contender: int
    belief: int
    #: The id of its connection, 0 for one that is broken.
    client: int
    #: The token of the lease that it holds as far as it knows, and of a request without an answer; 0 for none.
    token: int = 0
    asked: int = 0
    call: int = NONE
    called_at: int = 0
    #: No answer to its call will come.
    in_vain: bool = False
    #: When its lease ends by itself, as the server has it.
    ends: int = 0
    #: Somebody meddled with its lease, or its connection broke: the lease may end before that.
    disturbed: bool = False


class Moment(NamedTuple):
    """The election ``now`` seconds after its beginning."""

    now: int
    server: int
    candidates: tuple[Candidate, ...]
    #: How many connections and tokens there were, the highest term, and how many faults may still come.
    clients: int
    tokens: int
    highest: int
    faults: int


@dataclass(frozen=True)
class Release:
    """The release of the lease with the token ``of``."""

    lease: Lease
    of: str
    token = ""

    def run(self) -> None:
        try:
            self.lease.release(self.of)
        except StoreError:
            return
