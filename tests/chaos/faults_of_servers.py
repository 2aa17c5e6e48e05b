"""What befalls the two servers."""

from collections.abc import Iterator
from random import Random

from tests.chaos.fault import fault
from tests.chaos.scene import Scene

# The lease's server


@fault(2, "lease")
def crash_the_lease_server(scene: Scene, draw: Random) -> Iterator[float]:
    scene.aim()
    scene.lease.crash()
    yield draw.uniform(0.1, 6.0)
    scene.lease.start()


@fault(1, "lease")
def restart_the_lease_server(scene: Scene, draw: Random) -> None:
    scene.lease.restart()


@fault(1, "lease", weakens=True)
def crash_the_lease_server_and_lose_its_data(scene: Scene, draw: Random) -> Iterator[float]:
    scene.aim()
    with scene.losing_data():
        scene.lease.crash()
        scene.lease.forget()
    yield draw.uniform(0.1, 4.0)
    scene.lease.start()


@fault(1, "lease", weakens=True)
def flush_the_lease_server(scene: Scene, draw: Random) -> None:
    scene.aim()
    with scene.losing_data():
        scene.lease.flush_blocked()


@fault(1, "lease")
def hang_the_lease_server(scene: Scene, draw: Random) -> Iterator[float]:
    scene.lease.pause()
    yield draw.uniform(0.5, 6.0)
    scene.lease.resume()


@fault(2, "lease")
def block_the_lease_server(scene: Scene, draw: Random) -> Iterator[float]:
    seconds = draw.uniform(0.3, 5.0)
    scene.lease.block(seconds, reads=draw.random() < 0.5)
    yield seconds + 0.1


@fault(2, "lease")
def cut_all_connections_of_the_lease_server(scene: Scene, draw: Random) -> None:
    scene.aim()
    scene.lease.cut()


@fault(1, "lease")
def delete_the_lease(scene: Scene, draw: Random) -> None:
    scene.aim()
    scene.lease.client.delete(scene.keys.lease)


@fault(1, "lease")
def steal_the_lease(scene: Scene, draw: Random) -> None:
    scene.aim()
    scene.lease.client.set(scene.keys.lease, "stolen", px=draw.randint(500, 5000))


# The broker


@fault(2, "broker")
def crash_the_broker(scene: Scene, draw: Random) -> Iterator[float]:
    scene.aim()
    scene.all_broken()
    scene.broker.crash()
    yield draw.uniform(0.1, 6.0)
    scene.broker.start()


@fault(1, "broker")
def restart_the_broker(scene: Scene, draw: Random) -> None:
    scene.all_broken()
    scene.broker.stop()
    scene.broker.start()


@fault(2, "broker")
def block_the_broker(scene: Scene, draw: Random) -> Iterator[float]:
    scene.aim()
    with scene.waiting_for_the_broker():
        scene.broker.block()
        yield draw.uniform(0.5, 3.0) * scene.setting.ttl
        scene.broker.unblock()


@fault(1, "broker")
def hang_the_broker(scene: Scene, draw: Random) -> Iterator[float]:
    with scene.waiting_for_the_broker():
        scene.broker.pause()
        yield draw.uniform(0.5, 5.0)
        scene.broker.resume()


@fault(1, "broker")
def cut_all_connections_of_the_broker(scene: Scene, draw: Random) -> None:
    scene.aim()
    scene.all_broken()
    scene.broker.cut()
