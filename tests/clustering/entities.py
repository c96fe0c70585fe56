"""A network of entities: links keep the order of their messages, links among each other do not.

With `choose` none, messages arrive in the order in which they were sent: the synchronous world of flow.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Sequence

from broker_grpc.protocols.clustering.channel import Channel, State
from broker_grpc.protocols.clustering.clusterchannel import ClusterChannel
from broker_grpc.protocols.clustering.draws import identity
from broker_grpc.protocols.clustering.entity import Entity
from broker_grpc.protocols.clustering.messages import (
    Address,
    AnswersDue,
    Declare,
    Event,
    Message,
    SampleDue,
    Withdraw,
)
from broker_grpc.protocols.clustering.settings import ClusteringSettings
from broker_grpc.protocols.clustering.subscriber import Interest, Membership, Subscriber
from broker_grpc.protocols.clustering.topicchannel import TopicChannel

OUTSIDE = Address("user", 0)
Choose = Callable[[int], int]


class Network:
    def __init__(
        self, frequencies: Sequence[float], users: int, settings: ClusteringSettings, seed: int,
        choose: Choose | None = None,
    ) -> None:  # fmt: skip
        self.settings, self.seed, self.choose = settings, seed, choose
        names = [identity(f"topic {t}") for t in range(len(frequencies))]
        self.topics = [TopicChannel(n, f, settings, seed) for n, f in zip(names, frequencies, strict=True)]
        self.users = [Subscriber(identity(f"user {u}"), settings, seed) for u in range(users)]
        self.clusters: dict[int, ClusterChannel] = {}
        self.entities: dict[Address, Entity] = {e.address: e for e in (*self.topics, *self.users)}
        self.links: dict[tuple[Address, Address], deque[Message]] = {}
        self.sent: Counter[str] = Counter()
        self.lost: set[Address] = set()  # users that have gone without a word
        self.published: dict[int, list[str]] = {}

    # ---------------------------------------------------------------- what happens

    def put(self, source: Address, to: Address, message: Message) -> None:
        self.links.setdefault((source, to), deque()).append(message)

    def step(self) -> None:
        """One message arrives."""
        ready = list(self.links)
        link = ready[self.choose(len(ready)) if self.choose else 0]
        queue = self.links[link]
        message = queue.popleft()
        if not queue:
            del self.links[link]
        source, to = link
        if to in self.lost:
            return
        for receiver, said in self.entity(to).handle(source, message):
            self.sent[said.purpose] += 1
            self.put(to, receiver, said)

    def settle(self) -> None:
        for _ in range(100_000):
            if not self.links:
                return
            self.step()
        raise AssertionError("it does not come to rest")

    def entity(self, address: Address) -> Entity:
        """A cluster's place answers for it before it is there."""
        if address not in self.entities:
            made = ClusterChannel(address.identity, self.settings, self.seed)
            self.entities[address] = self.clusters[address.identity] = made
        return self.entities[address]

    def declare(self, user: int, topic: int) -> None:
        self.put(OUTSIDE, self.users[user].address, Declare(self.topics[topic].identity))

    def withdraw(self, user: int, topic: int) -> None:
        self.put(OUTSIDE, self.users[user].address, Withdraw(self.topics[topic].identity))

    def publish(self, topic: int) -> str:
        channel = self.topics[topic]
        ids = self.published.setdefault(topic, [])
        ids.append(f"{topic}/{len(ids)}")
        self.put(OUTSIDE, channel.address, Event(channel.identity, ids[-1]))
        return ids[-1]

    def sample(self, channel: Channel) -> None:
        self.put(OUTSIDE, channel.address, SampleDue())

    def channels(self) -> list[Channel]:
        """Those that are open and have subscribers, by identity."""
        alive: list[Channel] = [*self.topics, *self.clusters.values()]
        return sorted((c for c in alive if c.state is State.OPEN and c.members), key=lambda c: c.identity)

    def round(self) -> None:
        """As flow does it: each samples and proposes, and all comes to rest before the next."""
        for channel in self.channels():
            self.sample(channel)
            self.settle()

    def give_up_waiting(self) -> None:
        """Surveys whose peers have gone."""
        for channel in (*self.topics, *self.clusters.values()):
            for number in channel.surveys:
                self.put(OUTSIDE, channel.address, AnswersDue(number))
        self.settle()

    # ---------------------------------------------------------------- what must hold

    def check_quiet(self) -> None:
        """At a quiet point: both ends of every subscription agree, and subscriptions cover interests."""
        assert not self.links
        for user in self.users:
            if user.address in self.lost:
                continue
            for topic in self.topics:
                state = user.interest(topic.identity)
                assert state in (Interest.OUT, Interest.DIRECT, Interest.COVERED)
                assert (user.identity in topic.members) == (state is Interest.DIRECT)
                assert (state is Interest.COVERED) == (
                    bool(user.covering(topic.identity)) and state is not Interest.OUT
                )
            for cluster in self.clusters.values():
                member = user.membership(cluster.identity)
                assert member in (Membership.OUT, Membership.IN)
                assert (user.identity in cluster.members) == (member is Membership.IN)
                if member is Membership.IN:
                    assert user.content[cluster.identity] == cluster.content
            assert not user.replaces or all(not old for old in user.replaces.values())
            assert not user.instead
        for cluster in self.clusters.values():
            assert cluster.state in (State.OPEN, State.GONE)
            having = {t.identity for t in self.topics if cluster.identity in t.clusters}
            assert having == (set(cluster.content) if cluster.state is State.OPEN else set())
        assert all(topic.state is State.OPEN for topic in self.topics)

    def check_never_twice(self) -> None:
        for user in self.users:
            assert len(user.delivered) == len(set(user.delivered))

    def check_exactly_once(self) -> None:
        """At a quiet point every topic has an event: who is interested gets it, once, and nobody else."""
        before = {user.address: len(user.delivered) for user in self.users}
        ids = [self.publish(topic) for topic in range(len(self.topics))]
        self.settle()
        for user in self.users:
            if user.address not in self.lost:
                wanted = [
                    i
                    for i, t in zip(ids, self.topics, strict=True)
                    if user.interest(t.identity) is not Interest.OUT
                ]
                assert sorted(user.delivered[before[user.address] :]) == sorted(wanted)
