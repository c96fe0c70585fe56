"""Content-based routing as a protocol, and the seat that it offers to others."""

from __future__ import annotations

from collections import ChainMap
from random import Random
from typing import TYPE_CHECKING

from broker_grpc.core.config import BrokerProcessConfig, options_of
from broker_grpc.protocols.contentbased.kinds import EXCHANGED
from broker_grpc.protocols.contentbased.settings import ContentBasedSettings
from broker_grpc.registry import Entry

if TYPE_CHECKING:
    from broker_grpc.protocols.contentbased.broker import Broker
    from broker_grpc.protocols.contentbased.layer import Layer


def broker_with(config: BrokerProcessConfig, layer: Layer | None = None) -> Broker:
    """A content-based broker with this layer on it."""
    from broker_grpc.protocols.contentbased.broker import Broker

    neighbours = {neighbour.id: neighbour.address for neighbour in config.neighbours}
    addresses = ChainMap(neighbours, config.address_book)  # the book is not copied: all have the same
    rng = Random(config.seed)
    return Broker(config.broker, options_of(config), config.incarnation, rng, layer, addresses)


def build(config: BrokerProcessConfig, settings: ContentBasedSettings) -> Broker:
    return broker_with(config)


PROTOCOLS = (
    Entry(
        name="content_based",
        settings=ContentBasedSettings,
        build=build,
        overlay="tree",
        summary="routing by advertisements and subscriptions; what a broker without `algorithm` does",
        default=True,
        instructions=("exchange",),
        kinds=(EXCHANGED,),
    ),
)
