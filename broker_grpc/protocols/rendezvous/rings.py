"""Which ring brokers stand on: `bootstrap` and `maintain` of the settings."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from broker_grpc.protocols.ring.ring import Ring
from broker_grpc.protocols.ring.settings import RingSettings
from broker_grpc.protocols.ring.static import StaticRing, computed, members_of
from broker_grpc.protocols.ring.substrate import RingHost, Substrate

MakeRing = Callable[[RingHost, int], Substrate]  # of a plane


def ring_of(settings: RingSettings, brokers: Iterable[str], incarnation: int = 1) -> MakeRing:
    """`brokers`: all that there are at the start, this one too.

    Computed tables are those of the start: a broker that comes back joins through the others, unless its ring
    is without upkeep and nobody would answer.
    """
    everybody = sorted(brokers)

    def make(host: RingHost, plane: int) -> Substrate:
        if not settings.maintain:
            return StaticRing(host, settings, members_of(everybody), plane)
        if settings.bootstrap == "join" or incarnation > 1:
            return Ring(host, settings, plane)
        at_start = computed(tuple(sorted(members_of(everybody))), settings)
        return Ring(host, settings, plane, tables=at_start.tables(host.id).copy())

    return make
