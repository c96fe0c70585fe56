"""Names of entities. Machines know each other by identity; on the wire topics and users have their names."""

from __future__ import annotations

from collections.abc import Iterable

from broker_grpc.errors import ProtocolError
from broker_grpc.protocols.clustering.draws import identity
from broker_grpc.protocols.clustering.messages import Address, Topics
from broker_grpc.protocols.ring.identifiers import id_of, key_of
from protos.clustering_messages import Party, TopicRate

HALF = 33  # bits of a cluster's identity that its tree and the legs of publications leave out


def user_of(client: str, broker: str) -> str:
    """A client that changes its broker is another user: the old broker cannot unsubscribe the new one's."""
    return f"{client}@{broker}"


def number_of(cluster: int) -> int:
    """Of a cluster, as publications on their way to it and down its tree carry it."""
    return max(1, cluster >> HALF)


def tree_of(number: int) -> str:
    return f"cluster/{number:08x}"


class Directory:
    def __init__(self) -> None:
        self._parties: dict[Address, Party] = {}

    def topic(self, name: str) -> Address:
        return self.address(Party(topic=name))

    def user(self, client: str, broker: str) -> Address:
        return self.address(Party(user=client, broker=broker))

    def address(self, party: Party | None) -> Address:
        """From now on its name is known. Raises ProtocolError for one that names nobody."""
        if party is not None and party.topic:
            found = Address("topic", identity(party.topic))
        elif party is not None and party.user and party.broker:
            found = Address("user", identity(user_of(party.user, party.broker)))
        elif party is not None and party.cluster:
            return Address("cluster", party.cluster)
        else:
            raise ProtocolError(f"{party} is neither topic, cluster nor user")
        self._parties[found] = party
        return found

    def party(self, address: Address) -> Party:
        if address.kind == "cluster":
            return Party(cluster=address.identity)
        return self._parties[address]

    def name(self, address: Address) -> str:
        """For people."""
        if address.kind == "cluster":
            return tree_of(number_of(address.identity))
        party = self._parties[address]
        return party.topic or user_of(party.user, party.broker)

    def tree(self, address: Address) -> str:
        """Of a channel."""
        return self.name(address)

    def key(self, party: Party) -> int:
        """Where on the ring it is."""
        if party.user:
            return id_of(party.broker)
        return key_of(party.topic or tree_of(number_of(party.cluster)))

    # ------------------------------------------------------------ topics with their frequencies

    def rates(self, topics: Topics) -> tuple[TopicRate, ...]:
        return tuple(TopicRate(self.topic_name(t), topics[t]) for t in sorted(topics))

    def topics(self, rates: Iterable[TopicRate]) -> dict[int, float]:
        return {self.topic(rate.topic).identity: rate.frequency for rate in rates}

    def topic_name(self, topic: int) -> str:
        return self._parties[Address("topic", topic)].topic
