"""Topic-based brokers on a topic-connected overlay and their coordinator, as two protocols."""

from __future__ import annotations

from collections import ChainMap
from random import Random
from typing import TYPE_CHECKING

from broker_grpc.core.config import BrokerProcessConfig, options_of
from broker_grpc.protocols.topicconnected.kinds import JOINED, LEFT, OVERLAY_UP, REPAIRED
from broker_grpc.protocols.topicconnected.settings import CoordinatorSettings, TopicBrokerSettings
from broker_grpc.registry import Entry

if TYPE_CHECKING:
    from broker_grpc.protocols.topicconnected.broker import TopicBroker
    from broker_grpc.protocols.topicconnected.coordinator import Coordinator


def build_broker(config: BrokerProcessConfig, settings: TopicBrokerSettings) -> TopicBroker:
    from broker_grpc.protocols.topicconnected.broker import TopicBroker

    neighbours = {neighbour.id: neighbour.address for neighbour in config.neighbours}
    addresses = ChainMap(neighbours, config.address_book)  # the book is not copied: all have the same
    return TopicBroker(config.broker, settings, options_of(config), addresses, config.incarnation)


def build_coordinator(config: BrokerProcessConfig, settings: CoordinatorSettings) -> Coordinator:
    from broker_grpc.protocols.topicconnected.coordinator import Coordinator

    return Coordinator(config.broker, settings, options_of(config), config.incarnation, Random(config.seed))


PROTOCOLS = (
    Entry(
        name="topic_connected",
        settings=TopicBrokerSettings,
        build=build_broker,
        overlay="own",
        summary="a topic-based broker that floods a publication among those who share its topic",
    ),
    Entry(
        name="coordinator",
        settings=CoordinatorSettings,
        build=build_coordinator,
        overlay="own",
        kinds=(JOINED, LEFT, REPAIRED, OVERLAY_UP),
        summary="keeps the overlay of topic-based brokers topic-connected (Chen, Jacobsen and Vitenberg)",
    ),
)
