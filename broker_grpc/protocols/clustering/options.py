"""What `algorithm: {name: tamara}` may set: Scribe's settings, clustering, and times of the machinery."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from broker_grpc.core.parameters import Microseconds
from broker_grpc.protocols.clustering.settings import ClusteringSettings
from broker_grpc.protocols.rendezvous.settings import ScribeSettings

Frequency = Annotated[float, Meta(ge=0)]


class TamaraSettings(ScribeSettings, forbid_unknown_fields=True):
    """M, the maintenance interval of the paper, is `heartbeat_interval_us`."""

    grow: Annotated[
        Literal["reverse_path"], Meta(description="a way into a tree is the way to its channel")
    ] = "reverse_path"
    clustering: Annotated[ClusteringSettings, Meta(description="costs, coin, surveys, cadence")] = (
        ClusteringSettings()
    )
    users: Annotated[
        Literal["clients", "brokers"],
        Meta(description="who is a subscriber: each client, or each broker for all its clients"),
    ] = "clients"
    draws: Annotated[int, Meta(ge=0, description="seed of coins and samples; the same at all brokers")] = 0
    frequencies: Annotated[
        dict[str, Frequency],
        Meta(description="events per M of topics of which that is known; of others channels count them"),
    ] = msgspec.field(default_factory=dict)
    refresh: Annotated[
        int, Meta(ge=1, description="a subscriber tells its channels that it is there every so many M")
    ] = 10
    patience_us: Annotated[
        Microseconds,
        Meta(ge=1_000, description="an answer that took longer is not waited for, a request is repeated"),
    ] = 10_000_000
    linger_us: Annotated[
        Microseconds,
        Meta(ge=0, description="a tree is left so long after its subscription: events are under way in it"),
    ] = 2_000_000
