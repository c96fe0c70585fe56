"""POP and GRAPE as protocols: content-based brokers with one of them as a layer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from broker_grpc.core.config import BrokerProcessConfig, options_of
from broker_grpc.errors import BrokerError
from broker_grpc.protocols.contentbased.plug import broker_with
from broker_grpc.protocols.relocation.kinds import SELECTED
from broker_grpc.protocols.relocation.settings import GrapeSettings, PopSettings
from broker_grpc.registry import ClientSide, Entry
from protos.core_messages import ProbeAnswer
from protos.relocation_messages import MigrationAbort, MigrationOrder, MigrationResume, PingRequest

if TYPE_CHECKING:
    from broker_grpc.client.machine import ClientMachine
    from broker_grpc.protocols.contentbased.broker import Broker
    from broker_grpc.protocols.relocation.pings import Pings
    from broker_grpc.protocols.relocation.publisher import Migrations


def build_pop(config: BrokerProcessConfig, settings: PopSettings) -> Broker:
    from broker_grpc.protocols.relocation.pop import Pop

    return broker_with(config, Pop(settings))


def build_grape(config: BrokerProcessConfig, settings: GrapeSettings) -> Broker:
    from broker_grpc.protocols.relocation.grape import Grape

    if settings.link_latency and not options_of(config).heartbeat_interval_us:
        raise BrokerError("link_latency is measured by heartbeats: set heartbeat_interval_us")

    return broker_with(config, Grape(settings))


def pings(client: ClientMachine) -> Pings:
    from broker_grpc.protocols.relocation.pings import Pings

    return Pings(client)


def migrations(client: ClientMachine) -> Migrations:
    from broker_grpc.protocols.relocation.publisher import Migrations

    return Migrations(client)


PUBLISHER = (
    ClientSide((PingRequest, ProbeAnswer), pings),
    ClientSide((MigrationOrder, MigrationResume, MigrationAbort), migrations),
)

PROTOCOLS = (
    Entry(
        name="pop",
        settings=PopSettings,
        build=build_pop,
        overlay="tree",
        kinds=(SELECTED,),
        client=PUBLISHER,
        summary="publisher relocation towards the subscribers, hop by hop (Cheung and Jacobsen, section 3)",
    ),
    Entry(
        name="grape",
        settings=GrapeSettings,
        build=build_grape,
        overlay="tree",
        kinds=(SELECTED,),
        client=PUBLISHER,
        summary="publisher relocation for delay or load, among all brokers (Cheung and Jacobsen, section 4)",
    ),
)
