"""When something is due, as it is asked for: ``--cron``, ``--every`` or ``--daily-at``."""

import json
from dataclasses import dataclass

from celery_leased_beat import timing
from celery_leased_beat.errors import SpecError
from celery_leased_beat.timing import Cron, Timing

_READ = {"cron": timing.parse, "every": timing.every, "daily_at": timing.daily_at}


@dataclass(frozen=True, slots=True)
class When:
    """A spec, and the method of the schedule that takes it. Raises ``SpecError`` where it cannot be read."""

    method: str
    spec: str

    def __post_init__(self) -> None:
        object.__setattr__(self, "spec", " ".join(self.spec.split()))
        self.timing()

    def timing(self) -> Timing:
        """Return its timing."""
        return _READ[self.method](self.spec)

    @property
    def for_event(self) -> str:
        """The argument of the method, in Python: ``"06:30"``."""
        return quoted(self.spec)

    @property
    def for_job(self) -> str:
        """The spec that ``schedule.job`` takes, in Python: ``"30 6 * * *"``."""
        if self.method == "every":
            return quoted(f"@every {self.spec}")
        when = self.timing()
        return quoted(when.spec if isinstance(when, Cron) else self.spec)

    def __str__(self) -> str:
        return f"{self.method} {self.spec}"


def read_when(cron: str | None, every: str | None, daily_at: str | None) -> When | None:
    """Return what is given; at most one may be. Raises ``SpecError``."""
    given = {"cron": cron, "every": every, "daily_at": daily_at}
    found = [When(method, spec) for method, spec in given.items() if spec is not None]
    if len(found) > 1:
        raise SpecError(f"{' and '.join(str(when) for when in found)}: give one of --cron, --every and --daily-at")
    return found[0] if found else None


def quoted(text: str) -> str:
    """Return a text as Python has it, in double quotes and in ASCII."""
    return json.dumps(text)
