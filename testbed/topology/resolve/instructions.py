"""Events that tell running brokers to do something: exchange a link, change options."""

from __future__ import annotations

from broker_grpc.core.options import broker_options, changeable, check_changes
from broker_grpc.errors import BrokerError
from broker_grpc.registry import registry
from testbed.topology.file.schema.timeline import Exchange, SetOptions
from testbed.topology.plan import Broker, Event
from testbed.topology.resolve.expand import Steps
from testbed.topology.resolve.overlay import Edge, find_cycle
from testbed.topology.resolve.report import Report

Moment = tuple[str, int]


def exchange_events(
    spec: Exchange, moment: Moment, path: Steps, brokers: dict[str, Broker], edges: list[Edge], report: Report
) -> list[Event]:
    """Changes `edges`: the next exchange of the file finds the overlay that this one leaves."""
    if not _are_able(spec, path, brokers, report):
        return []
    cycle = find_cycle(list(brokers), [*edges, (spec.add[0], spec.add[1])]) or []
    steps = [{a, b} for a, b in zip(cycle, [*cycle[1:], *cycle[:1]], strict=True)]
    if len(cycle) < 3:
        report.add((*path, "add"), f"{' and '.join(spec.add)} are neighbours or apart", "name two others")
        return []
    if {*spec.remove} not in steps or {*spec.remove} == {*spec.add}:
        hint = f"the new link closes {' - '.join(cycle)}: remove one of the links between these"
        report.add((*path, "remove"), f"no link {' - '.join(spec.remove)} on the cycle", hint)
        return []
    edges[:] = [edge for edge in edges if {*edge} != {*spec.remove}] + [(spec.add[0], spec.add[1])]
    return [Event(*moment, "exchange", spec.add[0], {"to": spec.add[1], "remove": list(spec.remove)})]


def _are_able(spec: Exchange, path: Steps, brokers: dict[str, Broker], report: Report) -> bool:
    for key, ends in (("add", spec.add), ("remove", spec.remove)):
        for k, end in enumerate(ends):
            where = (*path, key, k)
            if end not in brokers:
                report.unknown(where, "broker", end, brokers)
                return False
            if "exchange" not in registry().instructions(brokers[end].algorithm):
                name = brokers[end].algorithm.get("name", "")
                report.add(where, f"{end} cannot exchange links: {name}", "content-based brokers can")
                return False
    return True


def set_events(
    spec: SetOptions, ids: list[str], moment: Moment, path: Steps, brokers: dict[str, Broker], report: Report
) -> list[Event]:
    for id in ids:
        if id not in brokers:
            report.add((*path, "broker"), f"{id} is no broker", "only brokers have options")
            return []
        try:
            check_changes(broker_options(brokers[id].options), spec.options)
        except BrokerError as error:
            hint = f"may change: {', '.join(changeable())}, where a broker has one of them from its start"
            report.add((*path, "options"), f"{id}: {error}", hint)
            return []
    return [Event(*moment, "set", id, dict(spec.options)) for id in ids]
