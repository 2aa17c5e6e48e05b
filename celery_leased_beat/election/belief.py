"""What a replica may believe of its own lease: a deadline, not a flag.

There is no I/O here: times come in, in seconds of a clock that counts suspension.
"""

from celery_leased_beat.engine import Term

#: What trust leaves of the TTL, as a share: time for a publish that was begun on trust to end before the lease does.
MARGIN = 1 / 5


class Belief:
    """The trust in one lease with this ``ttl`` (seconds). One thread writes it, any may ask."""

    def __init__(self, ttl: float) -> None:
        self._trusted_for = ttl * (1 - MARGIN)
        self._trust: tuple[Term, float] | None = None

    @property
    def exists(self) -> bool:
        """Whether there is a trust, be it past its deadline."""
        return self._trust is not None

    def term(self, now: float) -> Term | None:
        """Return the term that is trusted at ``now``."""
        trust = self._trust
        return None if trust is None or now >= trust[1] else trust[0]

    def renew(self, term: Term, sent: float) -> bool:
        """Trust ``term`` on the answer to a request that was sent at ``sent``; return whether there was no trust."""
        is_new = self._trust is None
        self._trust = (term, sent + self._trusted_for)
        return is_new

    def end(self, term: Term | None = None) -> bool:
        """Trust nothing any more, or not this ``term``; return whether that was trusted."""
        trust = self._trust
        if trust is None or term not in (None, trust[0]):
            return False
        self._trust = None
        return True
