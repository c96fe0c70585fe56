"""Brokers that are nothing but a ring, in a network with FIFO links and links on demand."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from random import Random

from broker_grpc.core.linkpool import LinkPool, PoolLimits
from broker_grpc.core.links import Peer
from broker_grpc.core.node import Node
from broker_grpc.core.timed import Timed
from broker_grpc.protocols.ring.converged import Converged
from broker_grpc.protocols.ring.identifiers import Member
from broker_grpc.protocols.ring.ring import Ring
from broker_grpc.protocols.ring.settings import RingSettings
from broker_grpc.protocols.ring.tables import Tables
from protos.body import Body, Envelope
from tests.broker_core.fifo_network import Network

SECOND = 1_000_000
QUICK = {"stabilise_us": SECOND, "check_us": SECOND, "fix_us": 4 * SECOND, "suspect_us": 2 * SECOND}


class RingBroker(Node):
    """`RingHost` of one ring; it says who told it what."""

    def __init__(
        self,
        id_: str,
        settings: RingSettings,
        addresses: Mapping[str, str],
        place: int,
        tables: Tables | None = None,
        incarnation: int = 1,
    ) -> None:
        super().__init__(id_, None, incarnation)
        self.random = Random(id_)
        self.pool = LinkPool(self._outbox, self.links, addresses, PoolLimits(patience_us=SECOND))
        self.ring = Ring(self, settings, 0, place, tables)
        self.ring.listeners.append(self)
        self.moves = 0
        self.replacements: list[tuple[str, str | None]] = []
        self._arrange(
            after=(
                Timed(self.ring.next_deadline_us, self.ring.deadline),
                Timed(self.pool.next_deadline_us, self.pool.deadline),
            )
        )

    def responsibility_moved(self) -> None:
        self.moves += 1

    def replaced(self, old: str, new: str | None) -> None:
        self.replacements.append((old, new))

    def send(self, peer: str, body: Body, request: int = 0) -> None:
        self.pool.send(peer, Envelope(body, 1, request))

    def demand(self, plane: int, wanted: Mapping[str, str]) -> None:
        self.pool.demand(f"ring {plane}", wanted)

    def rtt_us(self, peer: str) -> int | None:
        return None

    def _other(self, peer: Peer, envelope: Envelope, body: Body) -> None:
        if not self.ring.received(self.now_us, peer.name, body):
            super()._other(peer, envelope, body)

    def _up(self, peer: Peer) -> None:
        self.pool.peer_up(peer.name)
        self.ring.peer_up(self.now_us, peer.name)

    def _down(self, peer: Peer) -> None:
        self.ring.peer_down(self.now_us, peer.name)
        self.pool.peer_down(peer.name)

    def _say_farewell(self) -> None:
        self.ring.leave(self.now_us)


class RingNetwork(Network):
    """A wish for a link stays a wish: it is tried again as time passes (drivers redial)."""

    def __init__(self, settings: RingSettings, ids: Mapping[str, int], seed: int = 0) -> None:
        super().__init__(seed=seed, through_the_wire=True)
        self.settings = settings
        self.ids = dict(ids)
        self.addresses = {name: f"{name}:1" for name in ids}
        self.cut: set[frozenset[str]] = set()  # pairs that cannot reach each other

    def start(self, name: str, seeds: Iterable[str] = (), tables: Tables | None = None) -> RingBroker:
        self._incarnation[name] = self._incarnation.get(name, 0) + 1
        broker = RingBroker(
            name, self.settings, self.addresses, self.ids[name], tables, self._incarnation[name]
        )
        self.add(name, broker, "broker")
        self.now_us += 1
        broker._outbox.begin(self.now_us)
        broker.ring.join(self.now_us, list(seeds))
        self.apply(name, broker._outbox.effects)
        return broker

    def renumber(self, name: str, id_: int) -> None:
        broker = self.nodes[name]
        assert isinstance(broker, RingBroker)
        broker._outbox.begin(self.now_us)
        broker.ring.renumber(self.now_us, id_)
        self.apply(name, broker._outbox.effects)

    def stop(self, name: str) -> None:
        """With a farewell."""
        self.now_us += 1
        self.apply(name, self.nodes[name].farewell(self.now_us))
        self.settle()
        self.crash(name)

    def ring(self, name: str) -> Ring:
        node = self.nodes[name]
        assert isinstance(node, RingBroker)
        return node.ring

    def connect(self, a: str, b: str) -> None:
        if frozenset((a, b)) not in self.cut:
            super().connect(a, b)

    def part(self, one: Iterable[str], other: Iterable[str]) -> None:
        """From now on no link between the two sides."""
        for a in one:
            for b in other:
                self.cut.add(frozenset((a, b)))
                self.disconnect(a, b, "parted")

    def run(self, seconds: int) -> None:
        """Second by second: whoever wants a link that is not there dials again."""
        for _ in range(seconds):
            self.advance(SECOND)
            self.settle()
            for name in sorted(self.nodes):
                self._redial(name)
            self.settle()

    def _redial(self, name: str) -> None:
        node = self.nodes[name]
        assert isinstance(node, RingBroker)
        for peer in sorted(node.pool._dialled):
            if peer in self.nodes and not self.is_up(name, peer):
                self.connect(name, peer)

    def members(self) -> list[Member]:
        return sorted(self.ring(name).me for name in self.nodes)

    def wrong(self) -> list[str]:
        """Brokers whose tables are not those computed from who is there."""
        computed = Converged(self.members(), self.settings)
        return [name for name in sorted(self.nodes) if self.ring(name).tables != computed.tables(name)]

    def until_converged(self, seconds: int = 120) -> None:
        for _ in range(seconds // 5):
            self.run(5)
            if not self.wrong() and all(self.ring(name).settled for name in self.nodes):
                return
        unsettled = [name for name in self.nodes if not self.ring(name).settled]
        told = [f"of {len(self.nodes)} brokers {self.wrong()} have other tables, {unsettled} are not settled"]
        for name in self.wrong()[:1]:
            computed = Converged(self.members(), self.settings).tables(name)
            told += [f"{self.ring(name).tables}", "is not", f"{computed}"]
        raise AssertionError("\n".join(told))
