"""Tamara as a protocol: Scribe, with topics in clusters."""

from __future__ import annotations

from collections import ChainMap
from random import Random
from typing import TYPE_CHECKING

from broker_grpc.core.config import BrokerProcessConfig, options_of
from broker_grpc.protocols.clustering.kinds import CLUSTERED
from broker_grpc.protocols.clustering.options import TamaraSettings
from broker_grpc.protocols.rendezvous.kinds import TREE_CHANGED
from broker_grpc.protocols.ring.kinds import RING_CHANGED
from broker_grpc.registry import Entry

if TYPE_CHECKING:
    from broker_grpc.protocols.clustering.broker import TamaraBroker


def build(config: BrokerProcessConfig, settings: TamaraSettings) -> TamaraBroker:
    from broker_grpc.protocols.clustering.broker import TamaraBroker
    from broker_grpc.protocols.rendezvous.rings import ring_of

    neighbours = {neighbour.id: neighbour.address for neighbour in config.neighbours}
    addresses = ChainMap(neighbours, config.address_book)  # the book is not copied: all have the same
    ring = ring_of(settings.ring, addresses.keys() | {config.broker}, config.incarnation)
    random = Random(config.seed)
    return TamaraBroker(
        config.broker, settings, ring, options_of(config), addresses, config.incarnation, random
    )


PROTOCOLS = (
    Entry(
        name="tamara",
        settings=TamaraSettings,
        build=build,
        overlay="own",
        summary="Scribe with topics grouped into clusters that share a tree (Milo, Zur, Verbin)",
        kinds=(TREE_CHANGED, RING_CHANGED, CLUSTERED),
    ),
)
