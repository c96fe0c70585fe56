"""One version of ring and trees. A broker routes in one of its planes, and can hold others beside it.

Until its ring has joined, nobody knows where anything belongs: what comes for its trees meanwhile is kept
(`early`), and handled when it has (`released`).
"""

from __future__ import annotations

from broker_grpc.protocols.rendezvous.trees import Trees
from broker_grpc.protocols.ring.substrate import Substrate
from protos.body import Envelope

Times = tuple[int, int]  # queueing and matching, in microseconds
Early = tuple[str, Envelope, Times]


class Plane:
    def __init__(self, ring: Substrate, trees: Trees) -> None:
        self.ring = ring
        self.trees = trees
        self.early: list[Early] = []  # from whom, what

    @property
    def has_kept(self) -> bool:
        """And can handle it now."""
        return bool(self.early) and self.ring.joined

    def released(self) -> list[Early]:
        early, self.early = self.early, []
        return early

    def received(self, now_us: int, peer: str, envelope: Envelope) -> bool:
        """False: not for this plane. Raises BrokerError for what is refused."""
        return self.trees.received(peer, envelope) or self.ring.received(now_us, peer, envelope.body)

    def peer_up(self, now_us: int, peer: str) -> None:
        self.ring.peer_up(now_us, peer)
        self.trees.peer_up(peer)

    def peer_down(self, now_us: int, peer: str) -> None:
        self.ring.peer_down(now_us, peer)
        self.trees.peer_down(peer)

    def next_deadline_us(self) -> int | None:
        due = (self.ring.next_deadline_us(), self.trees.next_deadline_us())
        return min((at for at in due if at is not None), default=None)

    def deadline(self, now_us: int) -> None:
        at = self.ring.next_deadline_us()
        if at is not None and at <= now_us:
            self.ring.deadline(now_us)
        at = self.trees.next_deadline_us()
        if at is not None and at <= now_us:
            self.trees.deadline(now_us)

    @property
    def settled(self) -> bool:
        return self.ring.settled and self.trees.settled and not self.early

    def farewell(self, now_us: int) -> None:
        """Children are handed over while the routes still hold."""
        self.trees.farewell()
        self.ring.leave(now_us)
