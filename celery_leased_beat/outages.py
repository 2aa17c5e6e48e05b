"""What an error of a publish says: that no message gets through, or that this one cannot be sent.

Its class alone does not tell. kombu calls either of them an ``OperationalError``, and counts among a Redis connection's
errors the ``KeyError`` of a codec that does not exist; and a router or a task of the user's own, which a publish asks,
may meet a file or a server that is not there.
"""

import traceback
from pathlib import Path
from types import CodeType

import kombu
from amqp.exceptions import AMQPNotImplementedError, FrameError, FrameSyntaxError, InvalidCommand
from kombu import Connection
from kombu.exceptions import OperationalError

#: Of the message itself: a name that is not known, and what AMQP cannot carry, for which RabbitMQ closes a connection.
_OF_THE_MESSAGE = (LookupError, AMQPNotImplementedError, FrameError, FrameSyntaxError, InvalidCommand)

#: Answers of a Redis-like broker that concern every message, by their code or by the class that redis-py has for it.
_STATES = ("BUSY", "CLUSTERDOWN", "LOADING", "MASTERDOWN", "MISCONF", "NOREPLICAS", "OOM", "READONLY", "TRYAGAIN")
_STATE_ERRORS = {
    "BusyLoadingError", "ClusterDownError", "MasterDownError", "OutOfMemoryError", "ReadOnlyError", "TryAgainError",
}  # fmt: skip
#: Comes before the answer to a command that was one of several.
_PIPELINED = "of pipeline caused error: "

#: Of kombu, what connects and publishes: the rest of it is used by Celery and by others for all sorts of things.
_KOMBU = Path(kombu.__file__).parent
_MODULES, _TRANSPORTS = {_KOMBU / "connection.py", _KOMBU / "messaging.py"}, _KOMBU / "transport"
#: The function of kombu through which any error of a publish passes.
_PASSES_ON = "_reraise_as_library_errors"


def is_outage(error: Exception, connection: Connection) -> bool:
    """Return whether ``error``, met by a publish over ``connection``, is that of the broker or of the way to it."""
    met = _unwrapped(error)
    if isinstance(met, _OF_THE_MESSAGE) or not came_to_the_broker(error):
        return False
    if isinstance(met, (OperationalError, OSError, *connection.connection_errors)):
        return True
    return type(met).__name__ in _STATE_ERRORS or str(met).rpartition(_PIPELINED)[2].startswith(_STATES)


def came_to_the_broker(error: Exception) -> bool:
    """Return whether kombu met it, as it connected or published, and not what is asked before."""
    return any(_publishes(frame.f_code) for frame, _ in traceback.walk_tb(_unwrapped(error).__traceback__))


def _unwrapped(error: Exception) -> Exception:
    cause = error.__cause__
    return cause if isinstance(error, OperationalError) and isinstance(cause, Exception) else error


def _publishes(code: CodeType) -> bool:
    path = Path(code.co_filename)
    return code.co_name != _PASSES_ON and (path in _MODULES or path.is_relative_to(_TRANSPORTS))
