"""`capture`, `probes` and `log_detail`: what is measured."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from testbed.topology.file.quantities import Duration, Fraction, Latency, given
from testbed.topology.file.schema.base import Section, Whole


class CaptureSpec(Section):
    """Packets to keep."""

    enabled: bool = Field(default=True, description="capture at all")
    nodes: list[str] = Field(default=[], description="nodes or brokers; empty is every host with a broker")
    snap_length: Whole = Field(default=0, description="bytes kept of a packet; 0 is all")
    ring_megabytes: Whole = Field(
        default=0, description="keep only the newest so many MB per interface; 0 is all"
    )
    clients: bool = Field(default=False, description="also traffic between clients and brokers of one host")


Pair = Annotated[list[str], Field(min_length=2, max_length=2)]


class ProbesSpec(Section):
    """Round-trip probes against the planned paths: the fidelity of the run."""

    pairs: Annotated[int, Field(ge=0, le=10_000)] | list[Pair] = Field(
        default=20, description="pairs of nodes or brokers, or how many pairs of broker hosts to draw"
    )
    every: Duration = Field(default=given("1s"), gt=0, description="between two probes of a pair")
    limit_relative: Fraction = Field(
        default=0.0, description="allowed error; 0 is 1 % in virtual, 5 % in real time"
    )
    limit: Latency = Field(default=0, description="allowed error; 0 is 200us in virtual, 1ms in real time")


class LogDetailSpec(Section):
    """What the brokers' logs count, per `sample_every`, instead of telling it message by message."""

    counted: list[str] = Field(
        default=[],
        description="types of messages, as the table `overhead` names them; `*` stands for any letters",
    )
    journeys: Fraction = Field(
        default=0.01, description="share of the publications that are told whole where these are counted"
    )
