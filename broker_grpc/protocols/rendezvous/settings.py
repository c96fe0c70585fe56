"""Parameters of brokers on topic trees. `scribe` and `bayeux` are the same with other defaults."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from broker_grpc.core.parameters import Microseconds
from broker_grpc.protocols.ring.settings import Kind, RingSettings

Grow = Literal["reverse_path", "top_down"]
Direction = Literal["down", "up", "both"]


class PastryRing(RingSettings, forbid_unknown_fields=True, frozen=True):
    kind: Annotated[Kind, Meta(description="whose tables and whose rule for the next hop")] = "pastry"


class TapestryRing(RingSettings, forbid_unknown_fields=True, frozen=True):
    kind: Annotated[Kind, Meta(description="whose tables and whose rule for the next hop")] = "tapestry"


class RendezvousSettings(msgspec.Struct, forbid_unknown_fields=True):
    grow: Annotated[
        Grow, Meta(description="reverse_path: along the routes to the root; top_down: from the root")
    ] = "reverse_path"
    ring: Annotated[RingSettings, Meta(description="the ring that the trees stand on")] = RingSettings()
    seeds: Annotated[
        list[str],
        Meta(description="brokers to join the ring through; none: all, and the first by name begins it"),
    ] = []
    heartbeats: Annotated[
        Direction, Meta(description="down: parents to children; up: children to parents; both")
    ] = "both"
    batch_heartbeats: Annotated[
        bool, Meta(description="one heartbeat per neighbour with all its topics, not one per topic")
    ] = False
    heartbeat_interval_us: Annotated[
        Microseconds,
        Meta(ge=1_000, description="between two heartbeats of one tree; publications count as one"),
    ] = 30_000_000
    silence_us: Annotated[
        Microseconds, Meta(ge=1_000, description="a parent or child not heard of for so long is lost")
    ] = 75_000_000
    retry_us: Annotated[
        Microseconds,
        Meta(ge=1_000, description="a broker that has no parent asks for one again after so long"),
    ] = 2_000_000
    max_topics: Annotated[int, Meta(ge=1, description="trees that one broker may be in")] = 100_000
    remembered: Annotated[int, Meta(ge=1, description="publications known again as duplicates")] = 100_000


class ScribeSettings(RendezvousSettings, forbid_unknown_fields=True):
    ring: Annotated[PastryRing, Meta(description="the ring that the trees stand on")] = PastryRing()


class BayeuxSettings(RendezvousSettings, forbid_unknown_fields=True):
    grow: Annotated[
        Grow, Meta(description="reverse_path: along the routes to the root; top_down: from the root")
    ] = "top_down"
    ring: Annotated[TapestryRing, Meta(description="the ring that the trees stand on")] = TapestryRing()
