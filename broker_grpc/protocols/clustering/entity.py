"""An entity: states, a table of legal transitions, and messages out. No clock, no chance, no IO.

What is not in the table is not legal in this state: it is counted and nothing else happens (a late message of
somebody who does not know yet, or one that was meant for another kind of entity).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import Enum
from typing import Any, ClassVar

from broker_grpc.protocols.clustering.messages import Address, Message, Sent
from broker_grpc.protocols.clustering.settings import ClusteringSettings

Table = Mapping[tuple[Enum, type[Message]], Callable[[Any, Address, Any], None]]


class Entity:
    table: ClassVar[Table]  # of its kind; after the class, where its methods are known

    def __init__(self, address: Address, settings: ClusteringSettings, seed: int) -> None:
        self.address, self.settings, self.seed = address, settings, seed
        self.costs = settings.costs
        self.refused = 0  # messages that were not legal when they came
        self._out: list[Sent] = []

    @property
    def identity(self) -> int:
        return self.address.identity

    def state_for(self, sender: Address, message: Message) -> Enum:
        """The state that decides whether the message is legal."""
        raise NotImplementedError

    def handle(self, sender: Address, message: Message) -> list[Sent]:
        """What it says to this, in order."""
        handler = self.table.get((self.state_for(sender, message), type(message)))
        if handler is None:
            self.refused += 1
        else:
            handler(self, sender, message)
        out, self._out = self._out, []
        return out

    def send(self, to: Address, message: Message) -> None:
        self._out.append(Sent(to, message))
