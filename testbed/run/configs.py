"""What each process is told at its start, from the plan. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from broker_grpc.registry import OVERLAY_ALGORITHMS
from testbed.topology.plan import Broker, Plan

Config = dict[str, Any]


def address(broker: Broker) -> str:
    return f"{broker.address}:{broker.port}"


def addresses(plan: Plan) -> dict[str, str]:
    return {broker.id: address(broker) for broker in plan.brokers}


def neighbours(plan: Plan, broker: str) -> list[Config]:
    """The overlay neighbours in the order of the plan; the first end named in a link dials, or both do."""
    where = addresses(plan)
    found: list[Config] = []
    for link in plan.overlay:
        if link.a == broker:
            found.append({"id": link.b, "address": where[link.b], "dial": True})
        elif link.b == broker:
            found.append({"id": link.a, "address": where[link.a], "dial": link.dial == "both"})
    return found


def address_book(plan: Plan, broker: Broker) -> list[Config]:
    """Brokers that it may have to link with in the course of the run, because its algorithm says so."""
    if broker.algorithm.get("name") not in OVERLAY_ALGORITHMS:
        return []
    linked = {neighbour["id"] for neighbour in neighbours(plan, broker.id)} | {broker.id}
    return [
        {"id": id_, "address": where, "dial": False}
        for id_, where in addresses(plan).items()
        if id_ not in linked
    ]


def broker_config(
    plan: Plan, broker: Broker, incarnation: int, events: Path, offset_us: int, tls: Mapping[str, str] | None
) -> Config:
    return {
        "broker": broker.id,
        "listen": address(broker),
        "neighbours": neighbours(plan, broker.id) + address_book(plan, broker),
        "options": broker.options,
        "algorithm": broker.algorithm,
        "seed": broker.seed,
        "events": str(events / f"{broker.id}.jsonl"),
        "epoch_offset_us": offset_us,
        "incarnation": incarnation,
        "sample_every_us": plan.sample_every_us,
        "tls": dict(tls) if tls else None,
    }


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
