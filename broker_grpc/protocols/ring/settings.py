"""Parameters of a ring. A protocol that stands on one nests them: `algorithm: {name: ..., ring: {...}}`."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from broker_grpc.core.parameters import Microseconds

Kind = Literal["chord", "pastry", "tapestry"]


class RingSettings(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """The defaults of periods and list lengths are OverSim's for Chord; see docs/rendezvous.md."""

    kind: Annotated[Kind, Meta(description="whose tables and whose rule for the next hop")] = "chord"
    base_bits: Annotated[
        Literal[1, 2, 4, 8], Meta(description="bits of a digit of pastry and tapestry: base 2, 4, 16, 256")
    ] = 4
    leaves: Annotated[int, Meta(ge=2, le=128, description="pastry's leaf set, half on either side")] = 16
    successors: Annotated[
        int, Meta(ge=1, le=64, description="neighbours kept on either side by chord and tapestry")
    ] = 8
    backups: Annotated[
        int, Meta(ge=0, le=16, description="tapestry: further entries of a column, used when the first fails")
    ] = 2
    proximity: Annotated[
        bool, Meta(description="proximity neighbour selection: the nearest by measured round trip")
    ] = False
    candidates: Annotated[
        int, Meta(ge=1, le=64, description="of how many brokers proximity chooses one entry")
    ] = 8
    bootstrap: Annotated[
        Literal["join", "converged"],
        Meta(description="join: through a broker that is there; converged: tables computed at the start"),
    ] = "join"
    maintain: Annotated[bool, Meta(description="false with converged: a fixed ring without any upkeep")] = (
        True
    )
    stabilise_us: Annotated[
        Microseconds, Meta(ge=1_000, description="between two exchanges with a neighbour on the ring")
    ] = 20_000_000
    fix_us: Annotated[
        Microseconds, Meta(ge=1_000, description="within so long every finger or column is looked at once")
    ] = 120_000_000
    check_us: Annotated[
        Microseconds, Meta(ge=1_000, description="between two looks whether the neighbours still answer")
    ] = 5_000_000
    suspect_us: Annotated[
        Microseconds,
        Meta(ge=1_000, description="a broker without a link, or without an answer, for so long is dead"),
    ] = 3_000_000
    lookup_us: Annotated[
        Microseconds, Meta(ge=1_000, description="a question without an answer is asked again after so long")
    ] = 2_000_000
    hop_limit: Annotated[
        int, Meta(ge=1, le=255, description="a routed message that crossed so many brokers is dropped")
    ] = 64

    def __post_init__(self) -> None:
        if self.bootstrap == "join" and not self.maintain:
            raise ValueError("maintain: false needs bootstrap: converged, nobody joins a ring without upkeep")
        if self.proximity and not self.maintain:
            raise ValueError("proximity needs maintain: true, a ring without upkeep measures no round trips")

    @property
    def side(self) -> int:
        """Neighbours that are kept on either side."""
        return self.leaves // 2 if self.kind == "pastry" else self.successors
