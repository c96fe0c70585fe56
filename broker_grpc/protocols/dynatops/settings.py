"""What `algorithm: {name: dynatops}` and `{name: reconfiguration}` of a topology file may set."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from broker_grpc.core.parameters import Microseconds
from broker_grpc.protocols.dynatops.planning import DEMAND, PUBLICATION_FILTER
from broker_grpc.protocols.rendezvous.settings import RendezvousSettings
from broker_grpc.protocols.ring.settings import RingSettings

Variant = Literal["similarity", "nearest", "static"]
Stopping = Literal["first_worst", "next_worst"]
Delays = Literal["hops", "measured"]


class StillRing(RingSettings, forbid_unknown_fields=True, frozen=True):
    """Nobody joins or leaves in the paper's models: tables are computed, also those of a new version."""

    bootstrap: Annotated[
        Literal["join", "converged"],
        Meta(description="join: through a broker that is there; converged: tables computed at the start"),
    ] = "converged"
    maintain: Annotated[
        bool,
        Meta(description="false with converged: a fixed ring without any upkeep; so it is with a manager"),
    ] = False


class DynatopsSettings(RendezvousSettings, forbid_unknown_fields=True):
    grow: Annotated[Literal["top_down"], Meta(description="trees grow from their roots")] = "top_down"
    ring: Annotated[StillRing, Meta(description="the ring that the trees stand on")] = StillRing()
    manager: Annotated[str, Meta(description="broker that runs the reconfiguration manager; empty: none")] = (
        ""
    )
    placement: Annotated[
        Variant,
        Meta(
            description="similarity: by utility; nearest: the smallest round trip; static: users stay where "
            "they connect"
        ),
    ] = "similarity"
    cluster: Annotated[
        list[str], Meta(description="brokers that see each other; none: by name, so many together")
    ] = []  # noqa: RUF012 - a Struct copies it
    cluster_size: Annotated[int, Meta(ge=1, description="c: brokers that see each other")] = 10
    update_us: Annotated[
        Microseconds, Meta(ge=1_000, description="T_update: between two tellings of topics and load")
    ] = 10_000_000
    load_weight: Annotated[float, Meta(ge=0, description="w_l of the utility")] = 1.0
    placement_delay_us: Annotated[
        Microseconds, Meta(ge=0, description="subscriptions that a client makes together are awaited so long")
    ] = 500_000
    linger_us: Annotated[
        Microseconds,
        Meta(ge=0, description="a version that nobody uses is kept so long for what is under way in it"),
    ] = 10_000_000
    probe_us: Annotated[
        Microseconds,
        Meta(ge=0, description="between two measurements of round trips to all brokers, 0 = none"),
    ] = 0


class ManagerSettings(msgspec.Struct, forbid_unknown_fields=True):
    free_period_us: Annotated[
        Microseconds, Meta(ge=1_000, description="T_free: at least so long between two reconfigurations")
    ] = 60_000_000
    ring: Annotated[StillRing, Meta(description="the brokers' ring")] = StillRing()
    delay_weight: Annotated[
        float, Meta(ge=0, le=1e12, description="w_d: of delays against relayed messages")
    ] = 1.0
    delays: Annotated[
        Delays,
        Meta(
            description="what a hop of a tree counts: 1, or half the measured round trip in units of the mean"
        ),
    ] = "hops"
    alpha: Annotated[
        float, Meta(ge=0, le=1, description="of the exponential filter of publication rates")
    ] = PUBLICATION_FILTER
    demand: Annotated[
        float, Meta(ge=0, description="beta: below this share of the largest cost nothing is computed")
    ] = DEMAND
    stopping: Annotated[
        Stopping, Meta(description="when no swap of the worst broker helps: stop, or try the next worst")
    ] = "first_worst"
    step_us: Annotated[
        Microseconds, Meta(ge=1_000, description="a step that takes longer is given up and rolled back")
    ] = 30_000_000
    repeat_us: Annotated[
        Microseconds,
        Meta(ge=1_000, description="an order that is not acknowledged is repeated after so long"),
    ] = 2_000_000
    report_us: Annotated[
        Microseconds,
        Meta(ge=1_000, description="reports are awaited so long; without all nothing is decided"),
    ] = 5_000_000
    gather_us: Annotated[
        Microseconds,
        Meta(
            ge=1_000, description="after its start it waits so long for brokers to say in which step they are"
        ),
    ] = 10_000_000
