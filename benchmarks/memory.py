"""``python -m benchmarks.memory``: what a fire of a scheduled event leaves in Valkey, in bytes with the key's name."""

from datetime import timedelta
from uuid import uuid4

from redis import Redis

from celery_leased_beat.fires import listener_id
from celery_leased_beat.store import Fanouts, Keys, Markers
from examples.shop.demo.crew import redis_url
from examples.valkey import lease_url

NAMESPACE = f"memory-{uuid4().hex[:8]}"
LISTENERS = (1, 3, 10)
TTL = timedelta(minutes=1)


def main() -> None:
    """Print one line per number of listeners."""
    with lease_url() as url, Redis.from_url(redis_url(url), decode_responses=True) as client:
        for count in LISTENERS:
            marker, fanout = _fire(client, [f"listener_{number}" for number in range(count)])
            total = (count + 1) * marker + fanout
            print(f"{count} listeners: {count + 1} markers of {marker}, a fan-out record of {fanout}, together {total}")


def _fire(client: Redis, listeners: list[str]) -> tuple[int, int]:
    """Do what workers do to the markers and the record of a fire, no options given; return the size of one of each."""
    keys = Keys(NAMESPACE)
    markers, fanouts = Markers(client, keys, TTL), Fanouts(client, keys, TTL)
    fire = str(uuid4())
    fanouts.begin(fire, {listener: {} for listener in listeners})
    for task in (fire, *(listener_id(fire, listener) for listener in listeners)):
        run = uuid4().hex
        markers.start(task, str(uuid4()), run, 0)
        markers.done(task, run)
    for listener in listeners:
        fanouts.sent(fire, listener)
    return _size(client, keys.marker(fire)), _size(client, keys.fanout(fire))


def _size(client: Redis, key: str) -> int:
    return int(client.memory_usage(key, samples=0) or 0)


if __name__ == "__main__":
    main()
