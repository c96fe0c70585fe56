"""Parameters of brokers on a topic-connected overlay and of their coordinator, with the paper's defaults."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from broker_grpc.core.parameters import Microseconds
from broker_grpc.protocols.topicconnected.defaults import COVERAGE, RHO


class TopicBrokerSettings(msgspec.Struct, forbid_unknown_fields=True):
    coordinator: Annotated[str, Meta(description="id of the broker that runs the coordinator")] = ""
    topics: Annotated[list[str], Meta(description="interests besides those of its clients")] = []
    heartbeat_interval_us: Annotated[Microseconds, Meta(ge=1, description="between two heartbeats")] = (
        1_000_000
    )
    interest_delay_us: Annotated[
        Microseconds, Meta(ge=0, description="changed interests of clients are collected so long, then told")
    ] = 100_000
    carry_us: Annotated[
        Microseconds,
        Meta(ge=0, description="a topic without interest is forwarded so long: the repair comes first"),
    ] = 10_000_000
    remembered: Annotated[int, Meta(ge=1, description="publications known again as duplicates")] = 100_000


class CoordinatorSettings(msgspec.Struct, forbid_unknown_fields=True):
    maintenance: Annotated[
        Literal["shadow", "naive", "low-oda"], Meta(description="how a round of churn is repaired")
    ] = "shadow"
    rho: Annotated[float, Meta(ge=1, description="LOW-ODA's balance of average and maximum degree")] = RHO
    coverage: Annotated[int, Meta(ge=1, description="lambda: shadow's backups per topic")] = COVERAGE
    backups: Annotated[
        Literal["primal-dual", "greedy"], Meta(description="how shadow builds backup sets")
    ] = "primal-dual"
    heartbeat_timeout_us: Annotated[
        Microseconds, Meta(ge=1, description="a broker silent for so long has left")
    ] = 3_000_000
    gather_us: Annotated[
        Microseconds,
        Meta(ge=0, description="at its start it hears brokers so long before it decides anything"),
    ] = 2_000_000
    join_takes_us: Annotated[
        Microseconds,
        Meta(ge=0, description="computing time charged to the repair of a join: orders go out so much later"),
    ] = 0
    leave_takes_us: Annotated[
        Microseconds, Meta(ge=0, description="the same of a leave; other interests cost both")
    ] = 0
