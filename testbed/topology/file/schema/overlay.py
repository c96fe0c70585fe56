"""`overlay`: which brokers are linked."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from testbed.topology.file.schema.base import Count, Id, Section

OverlayGenerator = Literal["tree", "chain", "star", "ring", "mesh", "random", "uniform", "nearest", "none"]
Edge = Annotated[list[Id], Field(min_length=2, max_length=2)]


class OverlaySpec(Section):
    """Broker-to-broker links: listed, in a file, named as `neighbours`, or generated. The first end dials."""

    links: list[Edge] | None = Field(
        default=None, description="pairs of broker ids; the first dials the second"
    )
    generator: OverlayGenerator | None = Field(
        default=None,
        description="over all brokers in file order: tree (balanced, breadth first), chain, star (round the "
        "first), ring, mesh, random (a seeded tree that grows broker by broker: short ways), uniform (a tree "
        "drawn evenly among all), nearest (the tree of least latency: it follows "
        "the network's hierarchy), none. Without links and neighbours: tree",
    )
    file: str = Field(
        default="",
        description="a file of links, relative to this one: two broker ids per line, # for comments",
    )
    fanout: Count = Field(default=2, description="children per broker in a tree")
    degree: Count = Field(
        default=0, validate_default=False, description="largest degree of a random tree; 0 is any"
    )
    dial: Literal["first", "both"] = Field(
        default="first",
        description="who dials: the first end of a link, or both ends; of two dials that cross, that of the "
        "broker with the smaller id stays",
    )
    cycles: Literal["refuse", "allow"] = Field(
        default="refuse",
        description="content-based routing needs a tree; allow for algorithms that do not (the default where "
        "every broker's algorithm takes any overlay)",
    )
    connected: bool = Field(default=True, description="refuse an overlay in several parts")
