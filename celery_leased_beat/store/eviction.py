"""Whether the server may evict what is kept in it."""

from redis import Redis

from celery_leased_beat.store.channel import Pooled

#: The one policy under which a server that is full refuses writes, instead of removing keys of its choice.
SAFE = "noeviction"


def eviction_policy(client: Redis) -> str | None:
    """Return the server's ``maxmemory-policy`` where it lets our keys go; None where it does not, or is not known.

    Also under a ``volatile`` policy: lease, markers and history have an expiry. Raises ``StoreError``.
    """
    (reply,) = Pooled(client).execute([("INFO", "memory")])
    policy = reply.get("maxmemory_policy", SAFE) if isinstance(reply, dict) else SAFE
    return None if policy == SAFE else str(policy)
