"""Which ring brokers stand on: for now a fixed one of all brokers of the file."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from broker_grpc.protocols.ring.settings import RingSettings
from broker_grpc.protocols.ring.static import StaticRing, members_of
from broker_grpc.protocols.ring.substrate import RingHost, Substrate

MakeRing = Callable[[RingHost, int], Substrate]  # of a plane


def ring_of(settings: RingSettings, brokers: Iterable[str]) -> MakeRing:
    """`brokers`: all that there may be, this one too. `bootstrap` and `maintain` are not looked at yet."""
    everybody = sorted(brokers)

    def make(host: RingHost, plane: int) -> Substrate:
        return StaticRing(host, settings, members_of(everybody), plane)

    return make
