"""A `Ground` whose brokers keep their rings by themselves, and dial again what they want links to."""

from __future__ import annotations

from collections.abc import Iterable
from random import Random

from broker_grpc.protocols.rendezvous.settings import RendezvousSettings
from broker_grpc.protocols.ring.converged import Converged
from broker_grpc.protocols.ring.ring import Ring
from broker_grpc.protocols.ring.settings import RingSettings
from tests.rendezvous.ground import Ground
from tests.ring.ring_network import QUICK, SECOND

SHORT = {"chord": {"successors": 3}, "pastry": {"leaves": 6}, "tapestry": {"successors": 3}}
BEATS = {"heartbeat_interval_us": SECOND, "silence_us": 5 * SECOND // 2, "retry_us": SECOND // 2}


def settings_of(kind: str, grow: str, bootstrap: str = "converged", **more: object) -> RendezvousSettings:
    ring = RingSettings(kind=kind, base_bits=2, bootstrap=bootstrap, **SHORT[kind], **QUICK)  # type: ignore[arg-type]
    return RendezvousSettings(grow=grow, ring=ring, **BEATS, **more)  # type: ignore[arg-type]


class LivingGround(Ground):
    def __init__(self, settings: RendezvousSettings, brokers: Iterable[str], seed: int = 0) -> None:
        self.cut: set[frozenset[str]] = set()  # pairs that cannot reach each other
        super().__init__(settings, brokers, seed)

    def connect(self, a: str, b: str) -> None:
        if frozenset((a, b)) not in self.cut:
            super().connect(a, b)

    def part(self, one: Iterable[str], other: Iterable[str]) -> None:
        for a in one:
            for b in other:
                self.cut.add(frozenset((a, b)))
                self.disconnect(a, b, "parted")

    def run(self, seconds: int) -> None:
        """Second by second: whoever wants a link that is not there dials again, as drivers do."""
        for _ in range(seconds):
            self.advance(SECOND)
            self.settle()
            for name in self.alive():
                for peer in sorted(self.at(name)._pool._dialled):
                    if peer in self.nodes and not self.is_up(name, peer):
                        self.connect(name, peer)
            self.settle()

    def ring(self, name: str) -> Ring:
        ring = self.at(name).planes[0].ring
        assert isinstance(ring, Ring)
        return ring

    def wrong(self) -> list[str]:
        """Brokers whose tables are not those computed from who is there, or that say they are not settled."""
        computed = Converged([self.ring(name).me for name in self.alive()], self.settings.ring)
        return [
            name
            for name in self.alive()
            if self.ring(name).tables != computed.tables(name) or not self.at(name).settled
        ]

    def until_whole(self, topic: str, members: set[str], seconds: int = 150) -> None:
        """Rings are as computed, the tree is the union of routes, and everybody gets a publication once."""
        for _ in range(seconds // 5):
            self.run(5)
            if not self.wrong() and self.is_whole(topic, members):
                break
        assert not self.wrong()
        self.check(topic, members)
        id_ = f"whole:{topic}:{self.now_us}"
        self.tell(self.alive()[0], topic, id_)
        self.run(1)
        for name in self.alive():
            assert self.got(name).count(id_) == (name in members), name

    def is_whole(self, topic: str, members: set[str]) -> bool:
        try:
            self.check(topic, members)
        except AssertionError:
            return False
        return True


def shuffled(names: Iterable[str], seed: int) -> list[str]:
    drawn = list(names)
    Random(seed).shuffle(drawn)
    return drawn
