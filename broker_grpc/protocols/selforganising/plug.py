"""CI, lMST and lMIT as protocols: content-based brokers with one of them as a layer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from broker_grpc.core.config import BrokerProcessConfig
from broker_grpc.protocols.contentbased.plug import broker_with
from broker_grpc.protocols.selforganising.kinds import LINK_PROPOSED, PRICED, REQUEST_ENDED
from broker_grpc.protocols.selforganising.settings import SelfOrganisingSettings
from broker_grpc.registry import Entry

if TYPE_CHECKING:
    from broker_grpc.protocols.contentbased.broker import Broker
    from broker_grpc.protocols.selforganising.heuristics import Heuristic


def _broker(config: BrokerProcessConfig, settings: SelfOrganisingSettings, heuristic: Heuristic) -> Broker:
    from broker_grpc.protocols.selforganising.layer import SelfOrganising

    return broker_with(config, SelfOrganising(settings, heuristic))


def build_ci(config: BrokerProcessConfig, settings: SelfOrganisingSettings) -> Broker:
    from broker_grpc.protocols.selforganising.heuristics import CostAndInterest

    return _broker(config, settings, CostAndInterest())


def build_lmst(config: BrokerProcessConfig, settings: SelfOrganisingSettings) -> Broker:
    from broker_grpc.protocols.selforganising.heuristics import LocalMinimumSpanningTree

    return _broker(config, settings, LocalMinimumSpanningTree())


def build_lmit(config: BrokerProcessConfig, settings: SelfOrganisingSettings) -> Broker:
    from broker_grpc.protocols.selforganising.heuristics import LocalMaximumInterestTree

    return _broker(config, settings, LocalMaximumInterestTree())


KINDS = (LINK_PROPOSED, PRICED, REQUEST_ENDED)
PROTOCOLS = (
    Entry(
        name="ci",
        settings=SelfOrganisingSettings,
        build=build_ci,
        overlay="own",
        summary="a tree that follows costs and common interest (Jaeger et al., section 4)",
        kinds=KINDS,
    ),
    Entry(
        name="lmst",
        settings=SelfOrganisingSettings,
        build=build_lmst,
        overlay="own",
        summary="a tree that follows the costs of links only (Jaeger et al., sections 3.1.2 and 5)",
        kinds=KINDS,
    ),
    Entry(
        name="lmit",
        settings=SelfOrganisingSettings,
        build=build_lmit,
        overlay="own",
        summary="a tree that follows common interest only (Jaeger et al., sections 3.1.2 and 5)",
        kinds=KINDS,
    ),
)
