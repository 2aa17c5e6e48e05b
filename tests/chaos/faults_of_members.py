"""What befalls replicas and workers, their paths, and their number."""

import time
from collections.abc import Iterator
from random import Random

from tests.chaos.fault import Course, fault
from tests.chaos.members import Member, Replica
from tests.chaos.scene import Scene

#: Scaling goes round these numbers of replicas.
SCALES = (1, 5, 2, 8, 3)


# Beats


@fault(4)
def kill_the_holder(scene: Scene, draw: Random) -> None:
    tell(scene, scene.holder(), "SIGKILL")


@fault(2)
def stop_the_holder(scene: Scene, draw: Random) -> None:
    tell(scene, scene.holder(), "SIGTERM")


@fault(1)
def kill_a_standby(scene: Scene, draw: Random) -> None:
    tell(scene, pick(scene.standbys(), draw), "SIGKILL")


@fault(1)
def stop_a_standby(scene: Scene, draw: Random) -> None:
    tell(scene, pick(scene.standbys(), draw), "SIGTERM")


@fault(2)
def pause_the_holder_for_less_than_its_lease(scene: Scene, draw: Random) -> Course:
    return pause(scene, scene.holder(), draw.uniform(0.1, 0.7) * scene.setting.ttl)


@fault(3)
def pause_the_holder_past_its_lease(scene: Scene, draw: Random) -> Course:
    return pause(scene, scene.holder(), draw.uniform(1.1, 2.5) * scene.setting.ttl)


@fault(1)
def pause_a_standby(scene: Scene, draw: Random) -> Course:
    return pause(scene, pick(scene.standbys(), draw), draw.uniform(0.2, 2.5) * scene.setting.ttl)


@fault(1)
def hang_the_holder(scene: Scene, draw: Random) -> None:
    scene.aim()
    if holder := scene.holder():
        holder.hang()


def tell(scene: Scene, member: Member | None, signal: str) -> None:
    scene.aim()
    if member is not None and member.free:
        member.tell(signal)


def pause(scene: Scene, member: Member | None, seconds: float) -> Iterator[float]:
    scene.aim()
    if member is not None and member.free:
        resume = member.pause()
        yield seconds
        resume()


def pick(members: list[Replica], draw: Random) -> Replica | None:
    return draw.choice(members) if members else None


# Workers


@fault(2)
def kill_a_worker_with_its_pool(scene: Scene, draw: Random) -> None:
    kill_worker(scene, draw, group=True)


@fault(1)
def kill_a_worker_alone(scene: Scene, draw: Random) -> None:
    kill_worker(scene, draw, group=False)


def kill_worker(scene: Scene, draw: Random, *, group: bool) -> None:
    scene.aim()
    if workers := scene.free_workers:
        chosen = draw.choice(workers)
        scene.broken(chosen)
        chosen.tell("SIGKILL", group=group)


@fault(3)
def kill_a_process_of_a_pool(scene: Scene, draw: Random) -> None:
    scene.aim()
    bodies = set(scene.running_bodies())
    if workers := scene.free_workers:
        chosen = next((one for one in workers if bodies & set(one.pool())), workers[0])
        pool = chosen.pool()
        if pids := [pid for pid in pool if pid in bodies] or pool:
            chosen.kill_child(draw.choice(pids))


@fault(1)
def stop_a_worker(scene: Scene, draw: Random) -> None:
    if workers := scene.free_workers:
        draw.choice(workers).tell("SIGTERM")


@fault(2)
def pause_a_worker(scene: Scene, draw: Random) -> Course:
    return pause_worker(scene, draw, draw.uniform(0.5, 8.0))


@fault(1, long=True, weakens=True)
def pause_a_worker_past_its_holds(scene: Scene, draw: Random) -> Course:
    return pause_worker(scene, draw, draw.uniform(17.0, 22.0))


def pause_worker(scene: Scene, draw: Random, seconds: float) -> Iterator[float]:
    if workers := scene.free_workers:
        resume = draw.choice(workers).pause()
        yield seconds
        resume()


# The paths of one replica


@fault(3)
def freeze_the_holders_path_to_the_lease(scene: Scene, draw: Random) -> Course:
    return freeze(scene, "lease", draw)


@fault(3)
def freeze_the_holders_path_to_the_broker(scene: Scene, draw: Random) -> Course:
    return freeze(scene, "broker", draw)


@fault(2)
def cut_the_holders_connections_to_the_lease(scene: Scene, draw: Random) -> None:
    cut(scene, "lease")


@fault(2)
def cut_the_holders_connections_to_the_broker(scene: Scene, draw: Random) -> None:
    cut(scene, "broker")


def freeze(scene: Scene, path: str, draw: Random) -> Iterator[float]:
    scene.aim()
    if holder := scene.holder():
        thaw = holder.freeze(path)
        yield draw.uniform(0.2, 3.0) * scene.setting.ttl
        thaw()


def cut(scene: Scene, path: str) -> None:
    scene.aim()
    if holder := scene.holder():
        holder.cut(path)


# The deployment


@fault(2, "deployment")
def scale(scene: Scene, draw: Random) -> Iterator[float]:
    scene.scale(SCALES[scene.scaled % len(SCALES)])
    scene.scaled += 1
    yield 4.0


@fault(1, "deployment")
def deploy(scene: Scene, draw: Random) -> Iterator[float]:
    """Replace one replica after the other by one of the other version."""
    scene.deploy(3 - scene.setting.version)
    begun = time.time()
    for replica in scene.replicas:
        if replica.life and replica.life.begun < begun and not replica.life.dismissed:
            replica.tell("SIGTERM")  # one that stands still will end when it goes on
            yield draw.uniform(0.5, 2.0)
