"""What a user of the server may lack: CLIENT, INFO and TIME. Each lack is said once, and then done without."""

import logging
import re
from functools import cache
from typing import Any

from redis.exceptions import NoPermissionError, ResponseError

logger = logging.getLogger(__name__)

_INSTEAD = {
    "CLIENT": "a holder that died is replaced when its lease ends, not before",
    "INFO": "a holder that died is replaced when its lease ends, not before, and a restarted server is not noticed",
    "TIME": "its clock is read from the expiry of a key",
}

#: How Valkey and Redis refuse what a script does.
_IN_SCRIPT = re.compile(r"ACL failure in script|The user executing the script can't run")

#: The answer of TIME without the right to it: a key that expires tells when that will be. It stands in a script that
#: has written nothing yet, next to its first key, in one slot of a Cluster with it.
_TIME = """\
local function server_time()
    local key = KEYS[1] .. ':time'
    redis.call('SET', key, '', 'PX', 1000)
    local now = redis.call('PEXPIRETIME', key) - 1000
    return {string.format('%.0f', math.floor(now / 1000)), string.format('%.0f', now % 1000 * 1000)}
end
"""


@cache
def note_lack(right: str) -> None:
    """Say what is done without ``right``, once."""
    logger.warning("the lease's server does not allow its user %s: %s", right, _INSTEAD[right])


def note_refusal(reply: Any, right: str) -> None:
    """Say so where ``reply`` refuses ``right``."""
    if isinstance(reply, NoPermissionError):
        note_lack(right)


def is_refused_in_script(reply: Any) -> bool:
    """Return whether the user may not do what a script does; which command that is, Redis does not tell."""
    return isinstance(reply, ResponseError) and _IN_SCRIPT.match(str(reply)) is not None


def without_time(source: str) -> str:
    """Return a script that does not ask for TIME."""
    shebang, _, body = source.partition("\n")
    return "\n".join([shebang, _TIME, body.replace("redis.call('TIME')", "server_time()")])
