"""Brokers on topic trees: with everything settable, and as Scribe and Bayeux have it."""

from __future__ import annotations

from collections import ChainMap
from random import Random
from typing import TYPE_CHECKING

from broker_grpc.core.config import BrokerProcessConfig, options_of
from broker_grpc.protocols.rendezvous.kinds import TREE_CHANGED
from broker_grpc.protocols.rendezvous.settings import BayeuxSettings, RendezvousSettings, ScribeSettings
from broker_grpc.protocols.ring.kinds import RING_CHANGED
from broker_grpc.registry import Entry

if TYPE_CHECKING:
    from broker_grpc.protocols.rendezvous.broker import RendezvousBroker


def build(config: BrokerProcessConfig, settings: RendezvousSettings) -> RendezvousBroker:
    from broker_grpc.protocols.rendezvous.broker import RendezvousBroker
    from broker_grpc.protocols.rendezvous.rings import ring_of

    neighbours = {neighbour.id: neighbour.address for neighbour in config.neighbours}
    addresses = ChainMap(neighbours, config.address_book)  # the book is not copied: all have the same
    ring = ring_of(settings.ring, addresses.keys() | {config.broker}, config.incarnation)
    random = Random(config.seed)
    return RendezvousBroker(
        config.broker, settings, ring, options_of(config), addresses, config.incarnation, random
    )


PROTOCOLS = (
    Entry(
        name="rendezvous",
        settings=RendezvousSettings,
        build=build,
        overlay="own",
        summary="topic trees on a ring: which ring, and how trees grow, can be set",
        kinds=(TREE_CHANGED, RING_CHANGED),
    ),
    Entry(
        name="scribe",
        settings=ScribeSettings,
        build=build,
        overlay="own",
        summary="topic trees along the routes to a rendezvous point, on Pastry (Castro et al.)",
        kinds=(TREE_CHANGED, RING_CHANGED),
    ),
    Entry(
        name="bayeux",
        settings=BayeuxSettings,
        build=build,
        overlay="own",
        summary="topic trees grown from their roots, on Tapestry (Zhuang et al.)",
        kinds=(TREE_CHANGED, RING_CHANGED),
    ),
)
