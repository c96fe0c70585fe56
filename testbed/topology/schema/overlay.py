"""`overlay`: which brokers are linked."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from testbed.topology.schema.base import Count, Id, Section

OverlayGenerator = Literal["tree", "chain", "star", "ring", "mesh", "random", "none"]
Edge = Annotated[list[Id], Field(min_length=2, max_length=2)]


class OverlaySpec(Section):
    """Broker-to-broker links: listed, named as `neighbours` of brokers, or generated. The first end dials."""

    links: list[Edge] | None = Field(
        default=None, description="pairs of broker ids; the first dials the second"
    )
    generator: OverlayGenerator | None = Field(
        default=None,
        description="over all brokers in file order: tree (balanced, breadth first), chain, star (round the "
        "first), ring, mesh, random (a seeded random tree), none. Without links and neighbours: tree",
    )
    fanout: Count = Field(default=2, description="children per broker in a tree")
    degree: Count = Field(
        default=0, validate_default=False, description="largest degree of a random tree; 0 is any"
    )
    cycles: Literal["refuse", "allow"] = Field(
        default="refuse", description="content-based routing needs a tree; allow for algorithms that do not"
    )
    connected: bool = Field(default=True, description="refuse an overlay in several parts")
