"""The rings that systems stand on: random ids, and topics where they are hashed to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from broker_grpc.protocols.dynatops.situation import Floats, Positions
from broker_grpc.protocols.ring.converged import Converged
from broker_grpc.protocols.ring.identifiers import Member, id_of, key_of
from broker_grpc.protocols.ring.settings import Kind, RingSettings
from testbed.flow.dynatops.overlay import Overlay, overlay_of

NAMES: dict[str, tuple[Kind, Literal[1, 2, 4, 8]]] = {
    "chord": ("chord", 4),
    "tapestry-2": ("tapestry", 1),
    "tapestry-4": ("tapestry", 2),
    "tapestry-16": ("tapestry", 4),
}


@dataclass(frozen=True, eq=False)
class Ring:
    overlay: Overlay
    position: Positions  # of each broker: consistent hashing


def ring(name: str, brokers: int, topics: int, seed: int, link: Floats | None = None) -> Ring:
    """`link[a, b]`: with proximity, entries are the nearest of the first few by it."""
    kind, bits = NAMES[name]
    members = [Member(id_of(f"{b} {seed}"), str(b)) for b in range(brokers)]
    settings = RingSettings(kind=kind, base_bits=bits, proximity=link is not None)
    rtt = None if link is None else (lambda a, b: int(2000 * link[int(a), int(b)]))
    settled = Converged(members, settings, rtt)
    position = np.empty(brokers, np.int16)
    for at, member in enumerate(settled.members):
        position[int(member.broker)] = at
    return Ring(overlay_of(settled, [key_of(f"{t} {seed}") for t in range(topics)]), position)
