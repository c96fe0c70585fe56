"""The client's side: a subscriber that was away says which publications it has missed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from broker_grpc.client.part import Handler, Part
from gossip.gossip_messages import Digest, Missed
from protos.body import Body, Envelope

if TYPE_CHECKING:
    from broker_grpc.client.machine import ClientMachine


class Memory(Part):
    def __init__(self, client: ClientMachine) -> None:
        super().__init__(client)
        self._asked: set[str] = set()  # since the connection is there; each once, it may be on its way

    def handlers(self) -> dict[type[Body], Handler]:
        return {Digest: self._told}

    def peer_down(self, peer: str) -> None:
        self._asked.clear()

    def _told(self, peer: str, envelope: Envelope, digest: Digest) -> None:
        known = self._asked
        missed = [id_ for id_ in digest.publications if id_ not in known and not self._client.had(id_)]
        self._asked.update(missed)
        if missed:
            self._client.send(peer, Missed(tuple(missed)))
