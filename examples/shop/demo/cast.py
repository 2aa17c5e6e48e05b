"""The replicas and the workers of one run, and what is done to the holder."""

import signal
import time
from collections.abc import Callable
from dataclasses import dataclass

from examples.shop.demo.crew import Crew, Member
from examples.shop.demo.stage import Replica
from examples.shop.demo.watch import Tenure, Watch

#: Seconds that a start, a takeover and the last retries may take.
PATIENCE = 60.0

FATES = {signal.SIGKILL: "killed", signal.SIGTERM: "let go"}


class DemoError(Exception):
    """The run could not be brought to its end."""


@dataclass(frozen=True)
class Takeover:
    """The holder got a signal at ``sent_at`` (seconds since 1970); ``seconds`` later another replica had the lease."""

    member: str
    successor: str
    term: int
    sent_at: float
    seconds: float


class Cast:
    """Beats and workers of one app. ``meanwhile`` is called several times a second while something is waited for."""

    def __init__(self, crew: Crew, watch: Watch) -> None:
        self.meanwhile: Callable[[], None] = lambda: None
        self._crew = crew
        self._watch = watch
        self._beats: list[Member] = []
        self._fates: dict[str, str] = {}

    def start(self, *, workers: int, beats: int, queues: str) -> None:
        """Start them and wait until all are up. Workers first: a message must find a worker that knows its task."""
        for number in range(workers):
            self._crew.worker(f"worker-{number + 1}", "--concurrency", "2", "-Q", queues)
        for _ in range(beats):
            self._beats.append(self._crew.beat(f"beat-{len(self._beats) + 1}"))
        self.wait_for(lambda: all(_is_up(beat) for beat in self._beats), "all replicas up")
        self.holder()

    def add_beat(self) -> None:
        """Start one more replica and wait until it is up."""
        self._beats.append(self._crew.beat(f"beat-{len(self._beats) + 1}"))
        self.wait_for(lambda: _is_up(self._beats[-1]), "one more replica up")

    def end(self) -> None:
        """Let all end by themselves, the beats first."""
        self._crew.end(self._beats)
        self._crew.end(self._crew.members)
        self._check()

    def end_holder(self, number: signal.Signals) -> Takeover:
        """Send the holder a signal and wait until another replica holds the lease."""
        tenure = self.holder()
        member = self._member(tenure)
        self._fates[member.name] = FATES[number]
        sent_at, sent = time.time(), time.monotonic()
        member.send(number)
        self.wait_for(lambda: self._watch.after(tenure) is not None, "another holder")
        successor = self._watch.after(tenure) or tenure
        return Takeover(member.name, self._member(successor).name, successor.term, sent_at, successor.seen_at - sent)

    def holder(self) -> Tenure:
        """Wait until a replica holds the lease, and return its term."""
        self.wait_for(lambda: self._watch.holder is not None, "a holder")
        return self._watch.tenures[-1]

    def replicas(self) -> list[Replica]:
        """Return how the beats stand."""
        return [self._replica(beat, self._watch.holder) for beat in self._beats]

    def wait_for(self, condition: Callable[[], bool], what: str) -> None:
        """Wait until ``condition`` is true. Raises ``DemoError`` where it takes too long, or a process falls."""
        deadline = time.monotonic() + PATIENCE
        while not condition():
            if time.monotonic() > deadline:
                raise DemoError(f"not within {PATIENCE:.0f} s: {what}")
            self._check()
            self.meanwhile()
            time.sleep(0.1)

    def wait_until(self, moment: float) -> None:
        """Let time pass until ``moment`` (monotonic)."""
        while time.monotonic() < moment:
            self._check()
            self.meanwhile()
            time.sleep(0.1)

    def _member(self, tenure: Tenure) -> Member:
        return next(beat for beat in self._beats if beat.pid == tenure.pid)

    def _replica(self, beat: Member, holder: Tenure | None) -> Replica:
        if beat.name in self._fates:
            return Replica(beat.name, beat.pid, self._fates[beat.name], None)
        if holder is not None and holder.pid == beat.pid:
            return Replica(beat.name, beat.pid, "holder", holder.term)
        return Replica(beat.name, beat.pid, "standby" if _is_up(beat) else "starting", None)

    def _check(self) -> None:
        for member in self._crew.fallen():
            raise DemoError(f"{member.name} ended with status {member.status}:\n{member.log.read_text()[-4000:]}")


def _is_up(beat: Member) -> bool:
    """Whether the beat has started: its next step is to compete for the lease."""
    return beat.says("beat: Starting...")
