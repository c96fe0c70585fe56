"""The whole file."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from testbed.topology.file.quantities import Duration, given
from testbed.topology.file.schema.base import Id, Section, Whole
from testbed.topology.file.schema.network import NetworkSpec
from testbed.topology.file.schema.observation import CaptureSpec, LogDetailSpec, ProbesSpec
from testbed.topology.file.schema.overlay import OverlaySpec
from testbed.topology.file.schema.processes import (
    BrokerGroup,
    ClientGroup,
    Defaults,
    ProgramGroup,
    Publications,
)
from testbed.topology.file.schema.timeline import EventSpec, PhaseSpec


class TopologyFile(Section):
    """One experiment: what runs, where, when and over which network."""

    version: Literal[1] = Field(default=1, description="of this format")
    name: Id = Field(description="name of the experiment; also of its folder of results")
    description: str = Field(default="", description="what it models, for people")
    seed: Whole = Field(default=1, description="every random choice follows from it")
    duration: Duration = Field(
        default=given("60s"), description="of the last phase when `phases` is not given"
    )
    network: NetworkSpec = Field(description="nodes and links, or a generator")
    defaults: Defaults = Field(default=Defaults(), description="of all processes")
    brokers: dict[Id, BrokerGroup | None] = Field(
        min_length=1, description="group name or broker id: the brokers"
    )
    overlay: OverlaySpec = Field(default=OverlaySpec(), description="links between brokers")
    algorithm: dict[str, Any] = Field(
        default={},
        description="the protocol of the brokers and its parameters, {name: ..., ...}, see Algorithms; "
        "empty is content-based routing",
    )
    workload: dict[Id, Publications] = Field(
        default={}, description="publication sources, to name in `publish`"
    )
    clients: dict[Id, ClientGroup] = Field(default={}, description="group name or client id: the clients")
    programs: dict[Id, ProgramGroup] = Field(default={}, description="other programs")
    phases: list[PhaseSpec] = Field(
        default=[],
        description="in order; default overlay (links up), subscribers (settled), publishers (`duration`)",
    )
    events: list[EventSpec] = Field(default=[], description="faults, churn and changes")
    capture: CaptureSpec = Field(default=CaptureSpec(), description="packets to keep")
    probes: ProbesSpec = Field(default=ProbesSpec(), description="round-trip probes")
    checks: dict[str, str] = Field(
        default={}, description="name: SQL expression over the run's tables, e.g. delay.p99_us < 200000"
    )
    sample_every: Duration = Field(
        default=given("10s"), gt=0, description="between two samples of a broker's state"
    )
    log_detail: LogDetailSpec = Field(
        default=LogDetailSpec(), description="which messages the logs count; empty is none"
    )
    tls: bool = Field(default=False, description="encrypt broker links and client connections")
