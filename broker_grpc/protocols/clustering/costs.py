"""The cost model of section 2: messages per maintenance interval M, as four functions that are settings."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, NamedTuple

import msgspec
from msgspec import Meta


class Power(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """factor * N ** exponent; the paper's running example is N."""

    factor: Annotated[float, Meta(ge=0, description="messages for N = 1")] = 1.0
    exponent: Annotated[float, Meta(ge=0, le=4, description="1: in proportion to N")] = 1.0

    def __call__(self, n: float) -> float:
        if self.exponent == 1.0:
            return self.factor * n
        return self.factor * float(n**self.exponent) if n > 0 else 0.0


LINEAR = Power()


class Costs(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """cost_n, cost_d, cost_m and cost_a."""

    notify: Annotated[float, Meta(ge=0, description="cost_n: an event to its channel")] = 1.0
    disseminate: Annotated[Power, Meta(description="cost_d: an event to N subscribers")] = LINEAR
    maintain: Annotated[Power, Meta(description="cost_m: a channel with N subscribers, per M")] = LINEAR
    associate: Annotated[Power, Meta(description="cost_a: a cluster with N topics, per M")] = LINEAR

    def channel(self, frequency: float, size: float) -> float:
        """Maintenance of one channel and dissemination of its events; frequency is events per M."""
        return self.maintain(size) + self.events(frequency, size)

    def events(self, frequency: float, size: float) -> float:
        return frequency * (self.notify + self.disseminate(size))


PAPER = Costs()
TIE = 1e-9  # messages: less is the noise of adding up floating-point numbers in another order


def gains(delta: float) -> bool:
    """OC2 < OC1: what is worth doing. On a tie nothing changes."""
    return delta < -TIE


class Channel(NamedTuple):
    """A topic's or a cluster's: `topics` is 0 for that of a single topic."""

    frequency: float  # of all its topics, events per M
    size: int
    topics: int = 0


class Overall(NamedTuple):
    maintenance: float  # MC
    dissemination: float  # DC

    @property
    def cost(self) -> float:
        """OC"""
        return self.maintenance + self.dissemination


def overall(costs: Costs, channels: Iterable[Channel]) -> Overall:
    """MC and DC of all channels. A cluster's frequency is the sum over its topics, so DC's inner sum over
    {c | t in c} is taken cluster by cluster."""
    maintenance = dissemination = 0.0
    for channel in channels:
        maintenance += costs.maintain(channel.size)
        maintenance += costs.associate(channel.topics) if channel.topics else 0.0
        dissemination += costs.events(channel.frequency, channel.size)
    return Overall(maintenance, dissemination)
