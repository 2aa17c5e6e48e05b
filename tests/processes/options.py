"""What a test asks of its app; it goes to the app's processes in one variable of their environment."""

import json
import os
from dataclasses import asdict, dataclass, field

VARIABLE = "STAGE"


@dataclass(frozen=True)
class Options:
    """``entries`` maps each entry's name to its ``catch_up``; without ``backend`` all settings of ours are default."""

    broker: str = ""
    backend: str = ""
    sink: str = ""
    app: str = "stage"
    ttl: float = 3.0
    interval: float = 1.0
    entries: dict[str, str] = field(default_factory=lambda: {f"tick-{number}": "all" for number in range(5)})
    #: After how many seconds Redis gives a message to another worker, where the first was lost with it.
    visibility_timeout: float = 3600.0
    #: Whether each worker runs a replica in a thread of its own.
    in_worker: bool = False
    #: The version of the app.
    version: str = ""
    #: What befalls the first publish to the second of the three listeners: nothing, "error", or "kill".
    fan_out_fault: str = ""

    @classmethod
    def read(cls) -> "Options":
        return cls(**json.loads(os.environ[VARIABLE]))

    def environment(self) -> dict[str, str]:
        return {VARIABLE: json.dumps(asdict(self))}
