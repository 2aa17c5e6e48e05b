"""The names of all keys. They share one hash tag, so that a script's keys lie in one slot of a Cluster.

=======================  ==========  =====================================================================
key                      type        lives
=======================  ==========  =====================================================================
``…:lease``              string      for its TTL, renewed by the holder
``…:wake``               list        one second, or until a standby takes its one element
``…:term``               string      kept: the last term's number, so that terms rise over a release
``…:state``              hash        kept: one field per entry; absent entries are removed after 7 days
``…:current``            hash        kept: one field per entry name; removed with the entry's state
``…:intents``            hash        kept: one field per fire on its way; empty (and gone) when all arrived
``…:history``            stream      7 days from the last decision, about 100,000 records
``…:replicas``           hash        3 s from the last record: one field per replica, written again before that
``…:schedule:<digest>``  string      a minute after the last replica with that schedule
``…:task:<task id>``     hash        6 hours (a setting) from the last use
``…:fanout:<id>``        hash        as the markers
``<key>:time``           string      one second; only of a user who may not ask for TIME
=======================  ==========  =====================================================================
"""


class Keys:
    """The keys of one namespace, each ``clb:{<namespace>}:<what>``; the settings see to it that it has no braces."""

    __slots__ = ("_prefix", "current", "history", "intents", "lease", "replicas", "state", "term", "wake")

    def __init__(self, namespace: str) -> None:
        self._prefix = f"clb:{{{namespace}}}:"
        self.lease = self._prefix + "lease"
        self.term = self._prefix + "term"
        self.wake = self._prefix + "wake"
        self.state = self._prefix + "state"
        self.current = self._prefix + "current"
        self.intents = self._prefix + "intents"
        self.history = self._prefix + "history"
        self.replicas = self._prefix + "replicas"

    def schedule(self, digest: str) -> str:
        """Return the key of the outline of the schedule with that ``digest``."""
        return f"{self._prefix}schedule:{digest}"

    def marker(self, task: str) -> str:
        """Return the key of the marker of the task with the id ``task``."""
        return f"{self._prefix}task:{task}"

    def fanout(self, envelope: str) -> str:
        """Return the key of the fan-out record of the envelope with the id ``envelope``."""
        return f"{self._prefix}fanout:{envelope}"
