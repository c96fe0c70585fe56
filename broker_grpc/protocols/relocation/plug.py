"""POP and GRAPE as protocols: content-based brokers with one of them as a layer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from broker_grpc.core.config import BrokerProcessConfig
from broker_grpc.protocols.contentbased.plug import broker_with
from broker_grpc.protocols.relocation.kinds import SELECTED
from broker_grpc.protocols.relocation.settings import GrapeSettings, PopSettings
from broker_grpc.registry import Entry

if TYPE_CHECKING:
    from broker_grpc.protocols.contentbased.broker import Broker


def build_pop(config: BrokerProcessConfig, settings: PopSettings) -> Broker:
    from broker_grpc.protocols.relocation.pop import Pop

    return broker_with(config, Pop(settings))


def build_grape(config: BrokerProcessConfig, settings: GrapeSettings) -> Broker:
    from broker_grpc.protocols.relocation.grape import Grape

    return broker_with(config, Grape(settings))


PROTOCOLS = (
    Entry(
        name="pop",
        settings=PopSettings,
        build=build_pop,
        overlay="tree",
        kinds=(SELECTED,),
        summary="publisher relocation towards the subscribers, hop by hop (Cheung and Jacobsen, section 3)",
    ),
    Entry(
        name="grape",
        settings=GrapeSettings,
        build=build_grape,
        overlay="tree",
        kinds=(SELECTED,),
        summary="publisher relocation for delay or load, among all brokers (Cheung and Jacobsen, section 4)",
    ),
)
