"""The reconfiguration protocol (section 5.1.2): no event is lost or doubled while all change their places."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from broker_grpc.protocols.dynatops.settings import DynatopsSettings, StillRing
from broker_grpc.protocols.dynatops.steps import Step
from tests.dynatops.field import SECOND, Field
from tests.dynatops.trees import check_whole, ring_of, route_down

NAMES = [f"B{number}" for number in range(1, 9)]
TOPICS = "abcd"
STEPS = [Step.INIT, Step.OVERLAY, Step.RESTORE, Step.REPAIR, Step.FINISH, Step.RETIRE]
KINDS = ("chord", "tapestry")


class Drama:
    """Users that stay with their topics, users that do not, and publications all the while."""

    def __init__(self, seed: int, kind: str = "chord", brokers: int = 8, **more: Any) -> None:
        self.random = Random(seed)
        ring = StillRing(kind=kind, base_bits=1)  # type: ignore[arg-type]
        chosen = DynatopsSettings(placement="static", manager="M", ring=ring, **more)
        self.names = NAMES[:brokers]
        self.field = Field(chosen, self.names, seed, "M")
        self.loyal: dict[str, set[str]] = {}
        for number in range(6):
            topics = self.random.sample(TOPICS, 2)
            self.loyal[f"u{number}"] = set(topics)
            self.field.user(f"u{number}", self.random.choice(self.names), *topics)
        for number in range(4):
            self.field.user(f"v{number}", self.random.choice(self.names), self.random.choice(TOPICS))
        self.field.settle()
        self.told: list[tuple[str, str, str]] = []  # id, topic, publisher's broker

    def tell(self) -> None:
        broker, topic = self.random.choice(self.field.alive()), self.random.choice(TOPICS)
        self.told.append((self.field.tell(broker, topic), topic, broker))

    def change_mind(self) -> None:
        """One of those who do not stay."""
        user, topic = f"v{self.random.randrange(4)}", self.random.choice(TOPICS)
        if topic in self.field.wants(user):
            self.field.unwant(user, topic)
        else:
            self.field.want(user, topic)

    def begin(self) -> None:
        moving = self.random.randint(2, len(self.names))
        self.field.reconfigure(self.random.sample(self.names, moving))

    def step(self) -> None:
        """Something happens, anywhere."""
        what = self.random.random()
        if what < 0.15:
            self.tell()
        elif what < 0.24:
            self.change_mind()
        else:
            self.field.step()

    def play_to(self, step: Step) -> None:
        """Until the manager is at this step, and a little on."""
        for _ in range(5_000):
            drive = self.field.manager.drive
            if drive is None or drive.step >= step:
                break
            self.step()
            if self.random.random() < 0.02:
                self.field.advance(SECOND // 100)
        for _ in range(self.random.randrange(25)):
            self.step()

    def rest(self, seconds: int = 100) -> None:
        self.field.settle()
        self.field.advance(seconds * SECOND)

    def copies(self) -> dict[tuple[str, str], int]:
        """(user, publication) -> how often it came, of all that it may have wanted."""
        found: dict[tuple[str, str], int] = {}
        for user in self.field.users:
            delivered = self.field.delivered(user)
            received = self.field.received(user)
            assert len(delivered) == len(set(delivered))
            found |= {(user, id_): received.count(id_) for id_, _, _ in self.told}
        return found

    def missed(self) -> list[tuple[str, str, str]]:
        """(user, topic, publication) of those who stayed and did not get it."""
        copies = self.copies()
        return [
            (user, topic, id_)
            for id_, topic, _ in self.told
            for user, topics in self.loyal.items()
            if topic in topics and not copies[user, id_]
        ]

    def newcomers_missed(self) -> list[tuple[str, str]]:
        """Of those who do not stay, at rest and before any heartbeat could mend anything."""
        told = {topic: self.field.tell(self.random.choice(self.names), topic) for topic in TOPICS}
        self.field.settle()
        return [
            (user, topic)
            for user in self.field.users
            for topic in self.field.wants(user)
            if self.field.received(user).count(told[topic]) != 1
        ]

    def doubled(self) -> list[tuple[str, str]]:
        return [pair for pair, count in self.copies().items() if count > 1]


@settings(max_examples=12, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from(KINDS))
def test_nothing_is_lost_or_doubled(seed: int, kind: str) -> None:
    """Any ring, any permutation of any brokers, any order of messages, users that subscribe meanwhile."""
    drama = Drama(seed, kind)
    drama.begin()
    drama.play_to(Step.RETIRE)
    drama.field.settle()
    assert drama.newcomers_missed() == []
    drama.rest()
    drama.tell()
    drama.rest()
    assert [e.type for e in drama.field.events("RECONFIGURATION_ENDED")] == ["done"]
    assert drama.missed() == []
    assert drama.doubled() == []
    check_whole(drama.field, TOPICS)


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 10**6))
def test_one_after_the_other(seed: int) -> None:
    """Ids move on from where the last reconfiguration has put them."""
    drama = Drama(seed)
    for _ in range(3):
        drama.begin()
        drama.play_to(Step.RETIRE)
        drama.field.settle()
        while drama.field.manager.drive is not None:
            drama.field.advance(SECOND)
    drama.rest()
    assert drama.field.manager.version == 3
    assert drama.missed() == []
    assert drama.doubled() == []
    check_whole(drama.field, TOPICS)


@pytest.mark.parametrize("step", STEPS, ids=lambda step: step.name)
@settings(max_examples=8, deadline=None)
@given(seed=st.integers(0, 10**6), kind=st.sampled_from(KINDS))
def test_the_manager_is_killed_in_every_step(step: Step, seed: int, kind: str) -> None:
    """Restarted, it finishes what somebody routes in, and rolls back what nobody does; events go on."""
    drama = Drama(seed, kind)
    drama.begin()
    drama.play_to(step)
    drama.field.crash("M")
    for _ in range(drama.random.randrange(60)):
        drama.step()
    drama.field.begin_manager()
    for _ in range(drama.random.randrange(60)):
        drama.step()
    drama.rest()
    drama.tell()
    drama.rest()
    assert drama.missed() == []
    assert drama.doubled() == []
    check_whole(drama.field, TOPICS)
    drama.begin()
    drama.rest()
    assert drama.field.events("RECONFIGURATION_ENDED")[-1].type == "done", (
        "the next one begins where this ended"
    )
    check_whole(drama.field, TOPICS)


def routes(drama: Drama, versions: set[int], topic: str, publisher: str, user: str) -> set[str]:
    """All brokers over which it may have gone in any of these versions."""
    from broker_grpc.protocols.ring.identifiers import key_of

    found: set[str] = set()
    for version in versions:
        ring = drama.rings[version]  # type: ignore[attr-defined]
        found.update(ring.route(publisher, key_of(topic)))
        found.update(route_down(ring, topic, drama.field.home(user)))
    return found


@pytest.mark.parametrize("step", STEPS, ids=lambda step: step.name)
@settings(max_examples=8, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_a_broker_is_killed_in_every_step(step: Step, seed: int) -> None:
    """Only what had to go over it may be lost; when it is back all is whole again."""
    drama = Drama(seed)
    drama.begin()
    drama.play_to(Step.RESTORE if step > Step.RESTORE else Step.OVERLAY)
    rings = {version: ring_of(drama.field, version) for version in (0, 1)}
    drama.rings = rings  # type: ignore[attr-defined]
    drama.play_to(step)
    victim = drama.random.choice(drama.names)
    homeless = {user for user in drama.field.users if drama.field.home(user) == victim}
    drama.field.vanish(victim)
    for _ in range(drama.random.randrange(80)):
        drama.step()
    drama.field.advance(drama.random.choice([0, 5, 40]) * SECOND)
    drama.field.begin(victim)
    drama.field.redial()
    drama.rest()
    last = len(drama.told)
    drama.tell()
    drama.rest()
    for user, topic, id_ in drama.missed():
        publisher = next(broker for told, _, broker in drama.told[:last] if told == id_)
        if user not in homeless:
            assert victim in routes(drama, {0, 1}, topic, publisher, user), (user, topic, id_)
    assert drama.doubled() == []
    check_whole(drama.field, TOPICS)


def test_a_join_that_crosses_the_copies_is_asked_for_again() -> None:
    """The relay copies its trees before the join reaches it, the member after it was attached: neither copy
    says that anything is missing."""
    names = NAMES[:6]
    field = Field(DynatopsSettings(placement="static", manager="M"), names, 1, "M")
    relay = route_down(ring_of(field, 0), "t1", "B1")[1]
    field.reconfigure(["B4", "B5"])
    late = {pair: list(queue) for pair, queue in field._queues.items() if pair[0] == "M" and pair[1] != relay}
    for pair in late:
        field._queues[pair].clear()
    field.settle()
    assert field.at(relay).changing.next is not None, "only the relay has heard of the new version"
    field.user("u", "B1", "t1")
    field.settle()
    for pair, held in late.items():
        field._queues[pair].extend(held)
    field.settle()
    assert [event.type for event in field.events("RECONFIGURATION_ENDED")] == ["done"]
    id_ = field.tell("B3", "t1")
    field.settle()
    assert field.delivered("u") == [id_]
