"""What an error of a publish says: that no message gets through, or that this one cannot be sent.

kombu calls either of them an ``OperationalError``, and counts among a Redis connection's errors the ``KeyError`` of a
queue or a codec that does not exist.
"""

from amqp.exceptions import FrameSyntaxError
from kombu import Connection
from kombu.exceptions import OperationalError

#: Of the message itself: a name that is not known, and an argument that AMQP cannot carry.
_OF_THE_MESSAGE = (LookupError, FrameSyntaxError)

#: Answers of a Redis-like broker that concern every message, by their code or by the class that redis-py has for it.
_STATES = ("BUSY", "CLUSTERDOWN", "LOADING", "MASTERDOWN", "MISCONF", "NOREPLICAS", "OOM", "READONLY", "TRYAGAIN")
_STATE_ERRORS = {"BusyLoadingError", "ClusterDownError", "MasterDownError", "OutOfMemoryError", "ReadOnlyError"}
#: Comes before the answer to a command that was one of several.
_PIPELINED = "of pipeline caused error: "


def is_outage(error: Exception, connection: Connection) -> bool:
    """Return whether ``error``, met by a publish over ``connection``, is that of the broker or of the way to it."""
    if isinstance(error, OperationalError) and isinstance(error.__cause__, Exception):
        error = error.__cause__
    if isinstance(error, _OF_THE_MESSAGE):
        return False
    if isinstance(error, (OperationalError, OSError, *connection.connection_errors)):
        return True
    return type(error).__name__ in _STATE_ERRORS or str(error).rpartition(_PIPELINED)[2].startswith(_STATES)
