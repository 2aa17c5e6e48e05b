"""Each guard of the protocol is needed: without it a guarantee breaks, and with it, in the same bounds, none does."""

from dataclasses import dataclass

import pytest

from tests.model.bounds import CLOCK_AHEAD, Bounds
from tests.model.edits import Edit
from tests.model.elections import elect
from tests.model.explore import explore
from tests.model.laws import Law

#: The laws of what is decided and worked off in the end, without those of single writes.
OF_EFFECTS = {law for law in Law if law.startswith(("G1", "G2"))}


@dataclass(frozen=True)
class Guard:
    """What breaks without it, and by which faults: ``breaks`` is the first broken one of the laws in ``heed``."""

    edit: Edit
    breaks: Law
    faults: tuple[str, ...] = ()
    heed: frozenset[Law] = frozenset(Law)

    @property
    def bounds(self) -> Bounds:
        return Bounds(faults=len(self.faults), kinds=frozenset(self.faults), instants=1)


DELIVERED_AGAIN, DIES, CONFIRMED_LATE = "a message is delivered again", "a worker dies", "a publish is confirmed late"
LEASE_OF_TOKEN = "string.match(redis.call('GET', KEYS[1]) or '', '^(%S+) (%d+) ')"

GUARDS = {
    "the token in the claim": Guard(
        Edit("claim.lua", "if token ~= ARGV[1] then", "if false then"),
        breaks=Law.CLAIMED_WITH_LEASE, faults=("a replica is paused",),
    ),
    "the token in the claim, which is taken at its word": Guard(
        Edit("claim.lua", f"local token, term = {LEASE_OF_TOKEN}", "local token, term = ARGV[1], ARGV[1]"),
        breaks=Law.ENQUEUED, faults=("a replica is paused",), heed=frozenset(OF_EFFECTS),
    ),
    "the watermark in the claim": Guard(
        Edit("claim.lua", "elseif first <= state.watermark then", "elseif false then"),
        breaks=Law.DECIDED_ONCE, faults=("a reply is lost",),
    ),
    "the server's time in the claim": Guard(
        Edit("claim.lua", "state.early = state.early or last > now", "state.early = false"),
        breaks=Law.NOT_AHEAD, faults=(CLOCK_AHEAD,),
    ),
    "the decision written in the claim": Guard(
        Edit("claim.lua", "redis.call('XADD', KEYS[4],", "tostring("),
        breaks=Law.DECIDED,
    ),
    "the intent written in the claim": Guard(
        Edit("claim.lua", "if ARGV[at + 7] ~= '' then", "if false then"),
        breaks=Law.COMPLETED, faults=("a replica crashes",),
    ),
    "a claim that was sent again finds its own": Guard(
        Edit("claim.lua", "is_own(ARGV[at + 7]) and", "false and"),
        breaks=Law.ENQUEUED, faults=("a reply is lost",),
    ),
    "a claim without a reply is sent again": Guard(
        Edit("engine.decider.Decider.resend", "self._claim(term, self._unanswered, now)", "[]"),
        breaks=Law.DECIDED, faults=("a request is lost",),
    ),
    "trust is asked before a claim": Guard(
        Edit("engine.decider.Decider._claim", "self._trust.term() != term", "False"),
        breaks=Law.TRUSTED,
    ),
    "trust is asked before a publish": Guard(
        Edit("engine.outbox.Outbox._publish", "self._waiting and self._trust.term() == term", "self._waiting"),
        breaks=Law.TRUSTED,
    ),
    "older terms' intents are published again": Guard(
        Edit("engine.turn.Engine._begin", "[*kept, *loaded.intents]", "[*kept]"),
        breaks=Law.ENQUEUED, faults=("a replica crashes",),
    ),
    "an own delivery id for every publish": Guard(
        Edit("publisher.Publisher._send", "delivery=str(uuid4())", "delivery=intent.fire.id"),
        breaks=Law.ONE_MESSAGE, faults=(CONFIRMED_LATE, DIES),
    ),
    "the delivery id in the marker": Guard(
        Edit("start.lua", "delivery ~= ARGV[2] or", "false or"),
        breaks=Law.ONE_MESSAGE, faults=(CONFIRMED_LATE, DIES),
    ),
    "done, written": Guard(
        Edit("tasks.base.LeasedTask._finish", "run.pause() if run.sent_again else run.done()", "run.leave()"),
        breaks=Law.COMPLETED_ONCE, faults=(DELIVERED_AGAIN,),
    ),
    "done, read": Guard(
        Edit("start.lua", "elseif state == 'done' then", "elseif false then"),
        breaks=Law.COMPLETED_ONCE, faults=(DELIVERED_AGAIN,),
    ),
    "putting off": Guard(
        Edit("start.lua", "elseif run ~= ARGV[3] and hold > now then", "elseif false then"),
        breaks=Law.COMPLETED_ONCE, faults=(DELIVERED_AGAIN,),
    ),
    "putting off, and not dropping": Guard(
        Edit("tasks.base.LeasedTask._refuse",
             "put_off(self, start.remaining.total_seconds(), self._patience(run.seconds))", "Ignore()"),
        breaks=Law.COMPLETED, faults=(DELIVERED_AGAIN, DIES),
    ),
    "a run that was taken over changes nothing": Guard(
        Edit("mark.lua", "(run ~= ARGV[1] or ", "("),
        breaks=Law.COMPLETED_ONCE, faults=(DELIVERED_AGAIN, "a body fails"),
    ),
    "a run that is retried is not done": Guard(
        Edit("tasks.base.LeasedTask._finish", "run.sent_again or _comes_again(error)", "False"),
        breaks=Law.COMPLETED, faults=("a body fails",),
    ),
}  # fmt: skip

ELECTION_GUARDS = {
    "the token in a renewal": (Edit("renew.lua", "if token ~= ARGV[1] then", "if false then"), 0, 6, Law.BELIEF),
    "the token in a release": (
        Edit("release.lua", "if not held or string.match(held, '^%S+') ~= ARGV[1] then", "if false then"),
        1, 6, Law.BELIEF,
    ),
    "only a free lease is taken": (
        Edit("acquire.lua", "if held and held ~= ARGV[5] then", "if false then"), 0, 1, Law.BELIEF,
    ),
    "the whole value in a replacement": (
        Edit("acquire.lua", "if held and held ~= ARGV[5] then", "if held and not ARGV[5] then"), 1, 3, Law.BELIEF,
    ),
    "trust counts from the first request": (
        Edit("election.contender.Contender.attempt", "token), attempt.sent)", "token), boottime())"), 1, 6, Law.BELIEF,
    ),
    "trust ends before the lease": (
        Edit("election.belief.Belief.renew", "sent + self._trusted_for", "sent + 2 * self._trusted_for"),
        0, 7, Law.BELIEF,
    ),
    "terms rise": (Edit("acquire.lua", "(tonumber(number) or 0) + 1", "0"), 1, 1, Law.RISES),
}  # fmt: skip

#: The token in the commit carries nothing of what becomes of a fire. Worker and holder both end an intent, so each may.
NOT_NEEDED = {
    "the token in the commit": Edit("commit.lua", "if token ~= ARGV[1] then", "if false then"),
    "the end of the intent by the worker": Edit("start.lua", "redis.call('HDEL', KEYS[2], ARGV[1])", ""),
    "the end of the intent by the holder": Edit("commit.lua", "redis.call('HDEL', KEYS[2], ARGV[at])", ""),
}


@pytest.mark.parametrize("guard", GUARDS.values(), ids=GUARDS)
def test_without_this_guard_a_guarantee_breaks(guard: Guard) -> None:
    found = explore(guard.bounds, [guard.edit], guard.heed)
    print(found)
    assert found.broken is guard.breaks, str(found)
    assert explore(guard.bounds).broken is None


@pytest.mark.parametrize(("edit", "faults", "seconds", "breaks"), ELECTION_GUARDS.values(), ids=ELECTION_GUARDS)
def test_without_this_guard_a_belief_is_wrong(edit: Edit, faults: int, seconds: int, breaks: Law) -> None:
    found = elect([edit], faults=faults, seconds=seconds)
    print(found)
    assert found.broken is breaks, str(found)


@pytest.mark.parametrize("edit", NOT_NEEDED.values(), ids=NOT_NEEDED)
def test_without_this_alone_no_fire_is_lost_or_doubled(edit: Edit) -> None:
    assert explore(Bounds(instants=1), [edit], OF_EFFECTS).broken is None


def test_if_neither_holder_nor_worker_ended_an_intent_it_would_be_stranded() -> None:
    neither = [edit for name, edit in NOT_NEEDED.items() if name.startswith("the end of")]
    assert explore(Bounds(faults=0, instants=1), neither).broken is Law.ENQUEUED
