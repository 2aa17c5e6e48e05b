"""The keyspace of the model against the real server: the same calls have the same answers, and leave the same."""

import random
from collections.abc import Callable, Mapping
from typing import Any

import pytest
import redis

from celery_leased_beat.store import Keys
from tests.model.keyspace import Keyspace, ReplyError
from tests.model.scripts import Scripts

TOKENS, TASKS, RUNS = ["1", "2"], ["fire 1", "fire 2"], ["run 1", "run 2"]
HOUR = 3_600_000
CALLS = 400


class Both:
    """One namespace on the real server and in the model. The model's clock shows what the server's showed."""

    def __init__(self, client: redis.Redis, seed: int) -> None:
        self.client = client
        self.keys = Keys("both")
        self.scripts = Scripts()
        self.digests = {name: digest for digest, name in self.scripts.names.items()}
        self.keyspace = Keyspace(run_id=client.info("server")["run_id"])
        self.random = random.Random(seed)
        self.now = int(client.time()[0]) * 1000

    def run(self, script: str, keys: list[str], *arguments: object) -> None:
        """Run a script on both, and hold the answers against each other."""
        argv = [str(argument) for argument in arguments]
        real = self._real(script, keys, argv)
        if isinstance(real, list):
            self.keyspace.now = int(real[0]) * 1000 + int(real[1]) // 1000
        try:
            model = self.scripts.run(self.keyspace, self.digests[script], keys, argv)
        except ReplyError as error:
            model = str(error).split()[0]
        assert _comparable(script, model) == _comparable(script, real), (script, argv)

    def tamper(self, *command: str) -> None:
        """Run a command on both, as somebody else would."""
        self.client.execute_command(*command)
        self.keyspace.call(*command)

    def dump(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return what the real server and the model hold."""
        real = {key: (self._value(key), self.client.pexpiretime(key)) for key in self.client.scan_iter()}
        model = {key: (_plain(value), self.keyspace.ends.get(key, -1)) for key, value in self.keyspace.values.items()}
        return real, model

    def _real(self, script: str, keys: list[str], argv: list[str]) -> Any:
        try:
            return self.client.evalsha(self.digests[script], len(keys), *keys, *argv)
        except redis.ResponseError as error:
            return str(error).split()[0]

    def _value(self, key: str) -> Any:
        readers: Mapping[str, Callable[[], Any]] = {
            "string": lambda: self.client.get(key),
            "hash": lambda: self.client.hgetall(key),
            "list": lambda: self.client.lrange(key, 0, -1),
            "stream": lambda: [(record, fields) for record, fields in self.client.xrange(key)],
        }
        return readers[self.client.type(key)]()


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return [(record, dict(zip(fields[::2], fields[1::2], strict=True))) for record, fields in value]
    return value


def _comparable(script: str, reply: Any) -> Any:
    if not isinstance(reply, list):
        return reply
    answer = reply[2:]
    if script in ("intents", "attend"):
        answer = [*answer[:-1], dict(zip(answer[-1][::2], answer[-1][1::2], strict=True))]
    return answer


class Calls:
    """Random calls of every script, as our code makes them and as it does not."""

    def __init__(self, both: Both) -> None:
        self.both = both
        self.keys = both.keys
        self.pick = both.random.choice
        self.whole = both.random.randint

    def any(self) -> None:
        self.pick([
            self.acquire, self.renew, self.release, self.attend, self.load, self.claim, self.claim, self.claim,
            self.commit, self.keep, self.abandon, self.start, self.start, self.mark, self.mark,
            self.fanout, self.sent, self.tamper,
        ])()  # fmt: skip

    def acquire(self) -> None:
        keys = [self.keys.lease, self.keys.term, self.keys.wake]
        held = self.both.client.get(self.keys.lease) if self.both.client.type(self.keys.lease) == "string" else None
        seen = self.pick([[], ["another"], [held or "none"]])
        self.both.run("acquire", keys, self.pick(TOKENS), 60_000, self.whole(1, 9), "host 1", *seen)

    def renew(self) -> None:
        self.both.run("renew", [self.keys.lease, self.keys.term], self.pick(TOKENS), 60_000, self.whole(1, 9), "host 1")

    def release(self) -> None:
        self.both.run("release", [self.keys.lease, self.keys.wake], self.pick(TOKENS), 60_000)

    def attend(self) -> None:
        keys = [self.keys.replicas, self.keys.schedule(self.pick(["digest 1", "digest 2"]))]
        self.both.run("attend", keys, self.pick(TOKENS), self.pick(["a record", "another"]), 60_000, 60_000)

    def load(self) -> None:
        token, keys = self.pick(TOKENS), self.keys
        entries = [
            argument
            for name in ("tick", "größer")
            for argument in (name, self.pick(["every 1", "every 2"]), *self.pick([("", ""), (self.at(), self.at(-9))]))
        ]
        ledger = [keys.lease, keys.state, keys.current]
        self.both.run("load", [*ledger, keys.history], token, "replica", self.whole(0, 1), *entries)
        self.both.run("prune", ledger, token, "0")
        self.both.run("intents", [keys.lease, keys.intents], token)

    def claim(self) -> None:
        decisions: list[object] = []
        for _ in range(self.whole(1, 3)):
            first = self.at(self.whole(-6, 1))
            fire = self.pick(["", *TASKS])
            decisions += ["tick", self.pick(["every 1", "every 2"]), "fired" if fire else "skipped", first,
                          first + self.pick([0, HOUR]), 1, "a reason", fire, '{"a":1}' if fire else ""]  # fmt: skip
        keys = [self.keys.lease, self.keys.state, self.keys.intents, self.keys.history]
        self.both.run("claim", keys, self.pick(TOKENS), "replica", *decisions)

    def commit(self) -> None:
        self.both.run("commit", [self.keys.lease, self.keys.intents], self.pick(TOKENS), self.pick(TASKS), "unknown")

    def keep(self) -> None:
        self.both.run("keep", [self.keys.lease, self.keys.intents], self.pick(TOKENS), self.pick(TASKS), '{"a":2}')

    def abandon(self) -> None:
        keys = [self.keys.lease, self.keys.intents, self.keys.history]
        self.both.run(
            "abandon", keys, self.pick(TOKENS), "replica", self.pick(TASKS), "tick", self.at(-2), "failed", ""
        )

    def start(self) -> None:
        task = self.pick(TASKS)
        keys = [self.keys.marker(task), self.keys.intents]
        self.both.run("start", keys, task, self.pick(["delivery 1"] * 5 + ["delivery 2"]), self.pick(RUNS),
                      self.whole(0, 1), 60_000, 600_000, self.pick([1, 5]))  # fmt: skip

    def mark(self) -> None:
        state = self.pick(["running", "running", "paused", "done"])
        self.both.run(
            "mark", [self.keys.marker(self.pick(TASKS))], self.pick(RUNS), state, self.pick([0, 60_000]), 600_000
        )

    def fanout(self) -> None:
        self.both.run("fanout", [self.keys.fanout("envelope")], self.pick(['["a"]', '["b"]']), 600_000)

    def sent(self) -> None:
        self.both.run("sent", [self.keys.fanout("envelope")], self.pick(["a", "b"]), 600_000)

    def tamper(self) -> None:
        keys = self.keys
        key = self.pick([keys.lease, keys.term, keys.state, keys.intents, keys.history, keys.replicas,
                         keys.schedule("digest 1"), *map(keys.marker, TASKS)])  # fmt: skip
        self.both.tamper("DEL", key)
        if self.whole(1, 5) == 1:
            self.both.tamper("SET", key, "not what it was")

    def at(self, hours: int = -3) -> int:
        """Return a time that lies whole hours from the beginning of the test."""
        return self.both.now + hours * HOUR


@pytest.mark.parametrize("seed", range(3))
def test_the_keyspace_answers_as_the_server_does_and_holds_the_same(client: redis.Redis, seed: int) -> None:
    both = Both(client, seed)
    calls = Calls(both)
    for source in both.scripts.sources.values():
        client.script_load(source)
    for _ in range(CALLS):
        calls.any()
        real, model = both.dump()
        assert model == real
