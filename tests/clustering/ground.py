"""A FIFO network of Tamara brokers, and what must hold in it."""

from __future__ import annotations

from broker_grpc.protocols.clustering.broker import TamaraBroker
from broker_grpc.protocols.clustering.channel import State
from broker_grpc.protocols.clustering.clusterchannel import ClusterChannel
from broker_grpc.protocols.clustering.messages import Address
from broker_grpc.protocols.clustering.subscriber import Interest, Membership, Subscriber
from broker_grpc.protocols.clustering.topicchannel import TopicChannel
from broker_grpc.protocols.rendezvous.broker import RendezvousBroker
from tests.rendezvous.ground import Ground

SECOND = 1_000_000
QUIET = (Interest.OUT, Interest.DIRECT, Interest.COVERED)


class Clustered(Ground):
    """Client `c-<broker>` is the user of its broker. One maintenance interval is a second."""

    kind: type[RendezvousBroker] = TamaraBroker

    def tamara(self, name: str) -> TamaraBroker:
        broker = self.at(name)
        assert isinstance(broker, TamaraBroker)
        return broker

    # ------------------------------------------------------------ looking

    def clusters(self) -> dict[int, ClusterChannel]:
        """That are open, each where it is."""
        found: dict[int, ClusterChannel] = {}
        for name in self.alive():
            for address, channel in self.tamara(name).channels.held.items():
                if isinstance(channel, ClusterChannel) and channel.state is State.OPEN:
                    assert address.identity not in found, "a channel in two places"
                    found[address.identity] = channel
        return found

    def topics(self) -> dict[int, TopicChannel]:
        found: dict[int, TopicChannel] = {}
        for name in self.alive():
            for address, channel in self.tamara(name).channels.held.items():
                if isinstance(channel, TopicChannel):
                    assert address.identity not in found, "a channel in two places"
                    found[address.identity] = channel
        return found

    def user(self, name: str) -> Subscriber | None:
        broker = self.tamara(name)
        return broker.users.subscribers.get(broker.names.user(f"c-{name}", name))

    def is_quiet(self) -> bool:
        return all(self.at(name).settled for name in self.alive())

    def is_right(self) -> bool:
        """Everything agrees by now; what was lost is made good with the next refresh or later."""
        try:
            self.check_quiet()
        except (AssertionError, KeyError):
            return False
        return self.is_quiet()

    def until_right(self, at_most_us: int) -> int:
        """How long it took."""
        begun_us = self.now_us
        while not self.is_right():
            assert self.now_us - begun_us < at_most_us, self.wrong_now()
            self.advance(SECOND // 10)
        return self.now_us - begun_us

    def wrong_now(self) -> str:
        try:
            self.check_quiet()
        except (AssertionError, KeyError) as error:
            return repr(error)
        return f"not settled: {[name for name in self.alive() if not self.at(name).settled]}"

    def holder(self, cluster: int) -> str:
        """The broker that holds this cluster's channel."""
        here = Address("cluster", cluster)
        (holder,) = [name for name in self.alive() if here in self.tamara(name).channels.held]
        return holder

    # ------------------------------------------------------------ what must hold

    def check_quiet(self) -> None:
        """Both ends of every subscription agree, and subscriptions cover interests."""
        topics, clusters = self.topics(), self.clusters()
        held: dict[Address, set[int]] = {}
        for name in self.alive():
            user = self.user(name)
            wanted = self.at(name).interests.subscribed()
            names = self.tamara(name).names
            if user is None:
                assert not wanted
                continue
            states = {t: s for t, s in user.interests.items() if s is not Interest.OUT}
            assert states.keys() == {names.topic(topic).identity for topic in wanted}
            for topic, state in states.items():
                assert state in QUIET
                assert (state is Interest.COVERED) == bool(user.covering(topic))
                if state is Interest.DIRECT:
                    held.setdefault(Address("topic", topic), set()).add(user.identity)
            for cluster, member in user.memberships.items():
                assert member is Membership.IN
                held.setdefault(Address("cluster", cluster), set()).add(user.identity)
                assert user.content[cluster].keys() == clusters[cluster].content.keys()
        for identity, topic_channel in topics.items():
            assert topic_channel.members == held.get(Address("topic", identity), set())
        for identity, cluster in clusters.items():
            assert cluster.members == held.get(Address("cluster", identity), set())
            having = {t for t, channel in topics.items() if identity in channel.clusters}
            assert having == set(cluster.content)

    def check_never_twice(self) -> None:
        for name in self.alive():
            got = self.got(name)
            assert len(got) == len(set(got)), name

    def tell_all(self, topics: list[str], teller: str = "") -> dict[str, str]:
        """An event of each topic."""
        ids = {topic: f"{topic}:{self.now_us}" for topic in topics}
        for topic, id_ in ids.items():
            self.tell(teller or self.alive()[0], topic, id_)
        return ids

    def check_exactly_once(self, topics: list[str]) -> None:
        """Who is interested gets it, once, and nobody else."""
        ids = self.tell_all(topics)
        self.settle()
        for name in self.alive():
            wanted = self.at(name).interests.subscribed()
            for topic, id_ in ids.items():
                assert self.got(name).count(id_) == (topic in wanted), (name, topic)
