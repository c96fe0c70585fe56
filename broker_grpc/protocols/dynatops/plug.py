"""DYNATOPS brokers."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

from broker_grpc.core.config import BrokerProcessConfig, addresses_of, options_of
from broker_grpc.errors import BrokerError
from broker_grpc.protocols.dynatops.kinds import (
    PLACED,
    PLANE_CHANGED,
)
from broker_grpc.protocols.dynatops.settings import DynatopsSettings
from broker_grpc.protocols.rendezvous.kinds import TREE_CHANGED
from broker_grpc.registry import Entry

if TYPE_CHECKING:
    from broker_grpc.protocols.dynatops.broker import DynatopsBroker


def build_broker(config: BrokerProcessConfig, settings: DynatopsSettings) -> DynatopsBroker:
    from broker_grpc.protocols.dynatops.broker import DynatopsBroker

    addresses = addresses_of(config)
    if settings.manager and settings.manager not in addresses:
        raise BrokerError(f"{config.broker}: manager {settings.manager!r} is no broker of this plan")
    return DynatopsBroker(
        config.broker, settings, options_of(config), addresses, config.incarnation, Random(config.seed)
    )


PROTOCOLS = (
    Entry(
        name="dynatops",
        settings=DynatopsSettings,
        build=build_broker,
        overlay="own",
        summary="topic trees on Chord, users placed by similarity, positions that change (Zhao et al.)",
        kinds=(TREE_CHANGED, PLACED, PLANE_CHANGED),
    ),
)
