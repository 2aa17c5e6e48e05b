"""What the driver asks of the app's processes; it goes to them in one variable of their environment."""

import json
import os
from dataclasses import asdict, dataclass
from typing import Any, Self

VARIABLE = "CHAOS"

#: For so long a beat hangs that is told to, in seconds.
HANG = 9.0


@dataclass(frozen=True)
class Setting:
    """URLs of the three servers, and which ``version`` of the schedule a replica has: a rolling deploy changes it."""

    broker: str
    lease: str
    sink: str
    ttl: float
    version: int = 1
    namespace: str = "chaos"
    #: Whether each worker runs a replica by itself.
    in_worker: bool = False
    #: A message of a worker that died comes back after so many seconds (Redis), later than a hold's renewal.
    visibility_timeout: float = 12.0

    @classmethod
    def read(cls) -> Self:
        return cls(**json.loads(os.environ[VARIABLE]))

    def environment(self) -> dict[str, str]:
        return {VARIABLE: json.dumps(asdict(self))}

    def transport_options(self) -> dict[str, Any]:
        """Kombu's options of a Redis-like broker; RabbitMQ has no need of them."""
        if self.broker.startswith("amqp"):
            return {}
        return {
            "visibility_timeout": self.visibility_timeout,
            # Else kombu looks only every hundred seconds whether that time is over, ...
            "unacked_restore_interval": 1,
            "unacked_restore_throttle": 1,
            # ... and not for five minutes where the worker that looked was killed meanwhile.
            "unacked_mutex_expire": 5,
        }
