"""What the registry finds: the entry point of this package leads here."""

from __future__ import annotations

from typing import TYPE_CHECKING

from broker_grpc.core.config import BrokerProcessConfig, options_of
from broker_grpc.registry import ClientSide, Entry
from gossip.gossip_messages import BODIES, Digest
from gossip.kinds import REPEATED
from gossip.settings import GossipSettings

if TYPE_CHECKING:
    from broker_grpc.client.machine import ClientMachine
    from gossip.broker import GossipBroker
    from gossip.client import Memory


def build(config: BrokerProcessConfig, settings: GossipSettings) -> GossipBroker:
    from gossip.broker import GossipBroker

    return GossipBroker(config.broker, settings, options_of(config), config.incarnation)


def memory(client: ClientMachine) -> Memory:
    from gossip.client import Memory

    return Memory(client)


PROTOCOLS = (
    Entry(
        name="gossip",
        settings=GossipSettings,
        build=build,
        overlay="any",
        summary="floods publications over any overlay, and repeats what a neighbour has missed",
        bodies=BODIES,
        kinds=(REPEATED,),
        client=(ClientSide((Digest,), memory),),
    ),
)
