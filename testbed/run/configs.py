"""What each process is told at its start, from the plan. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import msgspec

from broker_grpc.core.config import BrokerProcessConfig, Neighbour, Tls
from broker_grpc.core.counted import Counting
from broker_grpc.registry import registry
from testbed.run.overlay import Overlay, Pair
from testbed.topology.plan import Broker, OverlayLink, Plan

Config = dict[str, Any]


def address(broker: Broker) -> str:
    return f"{broker.address}:{broker.port}"


def addresses(plan: Plan) -> dict[str, str]:
    return {broker.id: address(broker) for broker in plan.brokers}


def neighbours(where: Mapping[str, str], links: Iterable[OverlayLink]) -> dict[str, list[Neighbour]]:
    """The overlay neighbours of each broker in the order of the links; the first end named in a link dials,
    or both do."""
    found: dict[str, list[Neighbour]] = {broker: [] for broker in where}
    for link in links:
        found[link.a].append(Neighbour(link.b, where[link.b], dial=True))
        found[link.b].append(Neighbour(link.a, where[link.a], dial=link.dial == "both"))
    return found


def counting_of(plan: Plan) -> Counting | None:
    """What the event logs count; None = they tell everything."""
    detail = plan.log_detail
    if not detail.counted:
        return None
    brokers = [broker.id for broker in plan.brokers]
    return Counting(detail.counted, plan.sample_every_us, brokers, detail.journeys, plan.seed)


def serves_control(plan: Plan) -> bool:
    """Whether a broker of the plan takes orders over gRPC."""
    return any(broker.options.get("control_service") for broker in plan.brokers)


class BrokerConfigs:
    """What a plan's brokers are told, the same by every engine; the plan is read once."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._brokers = {broker.id: broker for broker in plan.brokers}
        self._addresses = addresses(plan)
        self.overlay = Overlay(plan.overlay)
        self._neighbours = neighbours(self._addresses, plan.overlay)
        self._counting = counting_of(plan)

    def overlay_changed(self, change: str, added: Pair, removed: Pair) -> None:
        """Brokers that start from now on get the links of today."""
        self.overlay.change(change, added, removed)
        self._neighbours = neighbours(self._addresses, self.overlay.links)

    def addresses_of(self, brokers: Iterable[str]) -> dict[str, str]:
        return {broker: self._addresses[broker] for broker in brokers}

    def broker_config(
        self,
        id_: str,
        incarnation: int,
        events: str = "",
        epoch_offset_us: int = 0,
        tls: Mapping[str, str] | None = None,
        control_secret: str = "",
    ) -> BrokerProcessConfig:
        """What follows the incarnation only a real process has."""
        broker = self._brokers[id_]
        return BrokerProcessConfig(
            broker=id_,
            listen=self._addresses[id_],
            neighbours=self._neighbours[id_],
            address_book=self._addresses if registry().overlay(broker.algorithm) == "own" else {},
            options=broker.options,
            algorithm=broker.algorithm,
            seed=broker.seed,
            events=events,
            epoch_offset_us=epoch_offset_us,
            incarnation=incarnation,
            sample_every_us=self._plan.sample_every_us,
            counting=self._counting,
            tls=Tls(**tls) if tls else None,
            control_secret=control_secret,
        )


def driver_config(
    plan: Plan, node: str, events: Path, offset_us: int, tls: Mapping[str, str] | None
) -> Config:
    return {
        "node": node,
        "clients": [msgspec.to_builtins(client) for client in plan.clients if client.node == node],
        "brokers": addresses(plan),
        "events_folder": str(events),
        "epoch_offset_us": offset_us,
        "tls": dict(tls) if tls else None,
    }


def driver_id(node: str) -> str:
    """The process that plays all clients of a host; named after it."""
    return f"clients-{node}"
