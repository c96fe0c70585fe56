"""DYNATOPS brokers and their reconfiguration manager, as two protocols."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

from broker_grpc.core.config import BrokerProcessConfig, addresses_of, options_of
from broker_grpc.errors import BrokerError
from broker_grpc.protocols.dynatops.kinds import (
    PLACED,
    PLANE_CHANGED,
    RECONFIGURATION_ENDED,
    RECONFIGURATION_PLANNED,
    STEP_DONE,
)
from broker_grpc.protocols.dynatops.settings import DynatopsSettings, ManagerSettings
from broker_grpc.protocols.rendezvous.kinds import TREE_CHANGED
from broker_grpc.registry import Entry

if TYPE_CHECKING:
    from broker_grpc.protocols.dynatops.broker import DynatopsBroker
    from broker_grpc.protocols.dynatops.manager import Manager


def build_broker(config: BrokerProcessConfig, settings: DynatopsSettings) -> DynatopsBroker:
    from broker_grpc.protocols.dynatops.broker import DynatopsBroker

    addresses = addresses_of(config)
    if settings.manager and settings.manager not in addresses:
        raise BrokerError(f"{config.broker}: manager {settings.manager!r} is no broker of this plan")
    if settings.manager and settings.ring.maintain:
        raise BrokerError(f"{config.broker}: a manager gives places on a ring with maintain: false only")
    return DynatopsBroker(
        config.broker, settings, options_of(config), addresses, config.incarnation, Random(config.seed)
    )


def build_manager(config: BrokerProcessConfig, settings: ManagerSettings) -> Manager:
    from broker_grpc.protocols.dynatops.manager import Manager

    if settings.ring.maintain:
        raise BrokerError(f"{config.broker}: places are given on a ring with maintain: false only")
    if settings.ring.kind == "pastry":
        raise BrokerError(f"{config.broker}: routes of pastry form no trees; chord or tapestry")
    return Manager(config.broker, settings, options_of(config), addresses_of(config), config.incarnation)


PROTOCOLS = (
    Entry(
        name="dynatops",
        settings=DynatopsSettings,
        build=build_broker,
        overlay="own",
        summary="topic trees on Chord, users placed by similarity, positions that change (Zhao et al.)",
        kinds=(TREE_CHANGED, PLACED, PLANE_CHANGED),
    ),
    Entry(
        name="reconfiguration",
        settings=ManagerSettings,
        build=build_manager,
        overlay="own",
        summary="decides when dynatops brokers change their positions, and leads them through it",
        kinds=(RECONFIGURATION_PLANNED, STEP_DONE, RECONFIGURATION_ENDED),
    ),
)
