"""What `algorithm: {name: ...}` of a broker may say, and the machine it makes of the broker.

Machines are imported when they are wanted: the coordinator's arrays are none of a plain broker's business.
"""

from __future__ import annotations

from random import Random
from typing import Any

import msgspec

from broker_grpc.core.config import BrokerProcessConfig, options_of
from broker_grpc.errors import BrokerError
from broker_grpc.machine import Machine
from broker_grpc.protocols.relocation.settings import GrapeSettings, PopSettings
from broker_grpc.protocols.topicconnected.settings import CoordinatorSettings, TopicBrokerSettings

Settings = PopSettings | GrapeSettings | TopicBrokerSettings | CoordinatorSettings
OVERLAY_ALGORITHMS = ("topic_connected", "coordinator")  # routing of their own, on links of their own


def settings(algorithm: dict[str, Any]) -> Settings:
    """From a plan's `algorithm`. Raises BrokerError that names the field."""
    try:
        chosen: Settings = msgspec.convert(algorithm, Settings)
    except msgspec.ValidationError as error:
        raise BrokerError(f"algorithm {algorithm.get('name')!r}: {error}") from None
    return chosen


def machine_of(config: BrokerProcessConfig) -> Machine:
    """The machine of a broker process; raises BrokerError for options or parameters it does not know."""
    chosen = settings(config.algorithm) if config.algorithm else None
    if isinstance(chosen, TopicBrokerSettings):
        from broker_grpc.protocols.topicconnected.broker import TopicBroker

        addresses = {neighbour.id: neighbour.address for neighbour in config.neighbours}
        return TopicBroker(config.broker, chosen, options_of(config), addresses, config.incarnation)
    if isinstance(chosen, CoordinatorSettings):
        from broker_grpc.protocols.topicconnected.coordinator import Coordinator

        random = Random(config.seed)
        return Coordinator(config.broker, chosen, options_of(config), config.incarnation, random)
    from broker_grpc.protocols.contentbased.broker import Broker

    layer = None
    if config.algorithm:
        from broker_grpc.protocols.relocation.algorithms import layer_of

        layer = layer_of(config.algorithm)
    return Broker(config.broker, options_of(config), config.incarnation, Random(config.seed), layer)
