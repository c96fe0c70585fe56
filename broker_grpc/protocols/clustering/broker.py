"""A broker of Tamara: Scribe, with channels at the rendezvous points and users at the brokers of clients.

A publication goes to its topic's rendezvous point, down the topic's tree, and from there to the rendezvous
points of the clusters that have the topic, and down theirs. Its `leg` says on which of these ways a copy is:
2n + 1 to the root of cluster n, 2n down its tree; 1 and 0 are the topic's own. A broker passes on every copy
once in each tree, and notifies its clients of the first one.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Mapping
from random import Random

from broker_grpc.core.links import Peer
from broker_grpc.core.options import BrokerOptions
from broker_grpc.core.seen import SeenIds
from broker_grpc.errors import ProtocolError
from broker_grpc.protocols.clustering.channels import Channels
from broker_grpc.protocols.clustering.directory import Directory, number_of, tree_of
from broker_grpc.protocols.clustering.messages import Address, Message
from broker_grpc.protocols.clustering.options import TamaraSettings
from broker_grpc.protocols.clustering.users import Users
from broker_grpc.protocols.clustering.wire import READERS, Said, decode, encode
from broker_grpc.protocols.rendezvous.broker import RendezvousBroker, on_leg, topic_of
from broker_grpc.protocols.rendezvous.plane import Plane
from broker_grpc.protocols.rendezvous.rings import MakeRing
from broker_grpc.protocols.ring.identifiers import key_of
from broker_grpc.protocols.ring.substrate import Substrate
from protos.body import Body, Envelope
from protos.client_messages import Publication
from protos.clustering_messages import ChannelState, Party
from protos.purposes import TO_ROOT
from protos.rendezvous_messages import TreeHeartbeat


class TamaraBroker(RendezvousBroker):
    """`Host` of its channels and users."""

    quick = (TreeHeartbeat,)

    def __init__(
        self,
        id_: str,
        settings: TamaraSettings,
        make_ring: MakeRing,
        options: BrokerOptions | None = None,
        addresses: Mapping[str, str] | None = None,
        incarnation: int = 1,
        random: Random | None = None,
    ) -> None:
        self.names = Directory()
        self.channels = Channels(self, self.names, settings)
        self.users = Users(self, self.names, settings)
        self.told: Counter[str] = Counter()  # messages of entities, by their purpose
        self._per_client = settings.users == "clients"
        self._notified = SeenIds(settings.remembered)
        self._here: deque[Said] = deque()  # for entities of this broker
        self._early: list[Said] = []  # before its ring has joined
        self._moved = False
        super().__init__(id_, settings, make_ring, options, addresses, incarnation, random)

    # ------------------------------------------------------------ publications

    def tree_of(self, publication: Publication) -> str:
        return tree_of(publication.leg >> 1) if publication.leg > TO_ROOT else topic_of(publication)

    def _copy_of(self, publication: Publication) -> str:
        number = publication.leg >> 1
        return f"{publication.id} {number}" if number else publication.id

    def _notify(self, now_us: int, envelope: Envelope) -> None:
        publication: Publication = envelope.body  # type: ignore[assignment]
        if self._notified.is_new(publication.id):
            super()._notify(now_us, envelope)

    def _to_root(
        self, now_us: int, source: str, plane: Plane, tree: str, envelope: Envelope, times: tuple[int, int]
    ) -> None:
        super()._to_root(now_us, source, plane, tree, envelope, times)
        publication: Publication = envelope.body  # type: ignore[assignment]
        if publication.leg == TO_ROOT and plane.ring.next_hop(key_of(tree)) is None:
            for cluster in self.channels.published(self.names.topic(tree)):
                number = number_of(cluster)
                copy = on_leg(publication, publication.plane, 2 * number + TO_ROOT)
                self._to_cluster(now_us, source, plane, Envelope(copy, envelope.hops), times)

    def _to_cluster(
        self, now_us: int, source: str, plane: Plane, envelope: Envelope, times: tuple[int, int]
    ) -> None:
        publication: Publication = envelope.body  # type: ignore[assignment]
        hop = plane.ring.next_hop(key_of(self.tree_of(publication)))
        if hop is not None:
            self.post(hop, Envelope(publication, envelope.hops + 1))
        else:
            super()._to_root(now_us, source, plane, self.tree_of(publication), envelope, times)

    # ------------------------------------------------------------ interests

    def _interests_changed(self) -> None:
        if self._per_client:
            self.users.wanted(self.interests.subscribed_by_client())
        else:
            topics = self.interests.subscribed()
            self.users.wanted({self.id: topics} if topics else {})
        self._deliver()

    def enter_tree(self, tree: str) -> None:
        for plane in self.planes.values():
            plane.trees.subscribe(tree)

    def leave_tree(self, tree: str) -> None:
        for plane in self.planes.values():
            plane.trees.unsubscribe(tree)

    # ------------------------------------------------------------ entities

    def say(self, sender: Address, to: Address, message: Message) -> None:
        if not self._ring.joined:
            self._early.append((sender, to, message))
            return
        self.told[message.purpose] += 1
        hop = self._towards(self.names.party(to))
        if hop is None:
            self._here.append((sender, to, message))
        else:
            self.post(hop, Envelope(encode(self.names, sender, to, message), 1))

    @property
    def _ring(self) -> Substrate:
        return self.planes[self.plane].ring

    def _towards(self, party: Party) -> str | None:
        """None: it is here. Who is nearest to a user's broker, and is not that broker, knows no other way."""
        if party.broker == self.id:
            return None
        hop = self._ring.next_hop(self.names.key(party))
        return party.broker if hop is None and party.user else hop

    def _act(self, peer: Peer, envelope: Envelope, body: Body) -> None:
        if body.__class__ not in READERS and not isinstance(body, ChannelState):
            super()._act(peer, envelope, body)
        elif not self._ring.joined:
            self._keep(self.planes[self.plane], peer.name, envelope, (0, 0))
        else:
            self._routed(peer.name, envelope, body)
            self._deliver()

    def _routed(self, source: str, envelope: Envelope, body: Body) -> None:
        to: Party | None = body.to  # type: ignore[attr-defined]
        address = self.names.address(to)
        hop = self._towards(to)  # type: ignore[arg-type]
        is_state = isinstance(body, ChannelState)
        if hop is None or (is_state and hop == source):  # who sent it goes, and its ring has not heard yet
            if is_state:
                self.channels.adopt(address, body)  # type: ignore[arg-type]
            else:
                self._here.append(decode(self.names, body))
        elif envelope.hops > self.settings.ring.hop_limit:
            raise ProtocolError(f"a {body.type} went over {envelope.hops} links")
        else:
            self.post(hop, Envelope(body, envelope.hops + 1))

    def _deliver(self) -> None:
        """What entities of this broker say to each other, in its order."""
        while self._here:
            sender, to, message = self._here.popleft()
            keeper = self.users if to.kind == "user" else self.channels
            keeper.take(sender, to, message)

    # ------------------------------------------------------------ the ring

    def responsibility_moved(self) -> None:
        self._moved = True

    def _hand_over(self) -> None:
        """Channels go where their keys are now."""
        for address in sorted(self.channels.held):
            hop = self._towards(self.names.party(address))
            if hop is not None:
                self.post(hop, Envelope(self.channels.hand_over(address), 1))

    def _say_farewell(self) -> None:
        """To a neighbour, who knows of the farewell before and passes it on to whose the key is now."""
        neighbours = sorted(self._ring.wanted().keys() & self._brokers.keys())
        addresses = sorted(self.channels.held)
        states = [self.channels.hand_over(address) for address in addresses] if neighbours else []
        super()._say_farewell()
        for state in states:
            self.post(neighbours[0], Envelope(state, 1))

    # ------------------------------------------------------------ time

    def _next_us(self) -> int | None:
        if self._moved or (self._early and self._ring.joined):
            return 0
        due = (super()._next_us(), self.channels.next_us(), self.users.next_us())
        return min((at for at in due if at is not None), default=None)

    def _run_due(self, now_us: int) -> None:
        super()._run_due(now_us)
        if self._ring.joined:
            early, self._early = self._early, []
            for said in early:
                self.say(*said)
            if self._moved:
                self._hand_over()
        self._moved = False
        self.channels.deadline(now_us)
        self.users.deadline(now_us)
        self._deliver()

    @property
    def settled(self) -> bool:
        return (
            super().settled
            and not self._moved
            and not self._early
            and self.channels.settled
            and self.users.settled
        )
