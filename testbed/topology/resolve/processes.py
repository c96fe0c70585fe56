"""What runs, and where: brokers with their overlay, clients, programs."""

from __future__ import annotations

from dataclasses import dataclass

from testbed.topology.file.schema.processes import ProgramGroup
from testbed.topology.plan import Broker, Client, Network, OverlayLink, Program
from testbed.topology.resolve.algorithms import check_algorithms
from testbed.topology.resolve.brokers import BrokerDraft, draft_brokers, place_brokers
from testbed.topology.resolve.clients import (
    ClientDraft,
    Placed,
    attach_clients,
    build_programs,
    draft_clients,
)
from testbed.topology.resolve.content import (
    check_filters,
    check_options,
    complete_publications,
)
from testbed.topology.resolve.files import seen_from, variables_seen_from
from testbed.topology.resolve.network import Sites
from testbed.topology.resolve.overlay import build_overlay
from testbed.topology.resolve.source import Source
from testbed.topology.resolve.workloads import add_interests, add_templates, build_workloads


@dataclass(frozen=True)
class Processes:
    """All of them, with what the file says of each that the plan does not keep."""

    brokers: list[Broker]
    broker_drafts: list[BrokerDraft]
    overlay: list[OverlayLink]
    clients: list[Client]
    client_drafts: dict[str, ClientDraft]
    programs: list[Program]
    program_groups: dict[str, ProgramGroup]

    def give_addresses(self, network: Network) -> None:
        addresses = {node.id: node.address for node in network.nodes}
        for broker in self.brokers:
            broker.address = addresses[broker.node]


def resolve_processes(source: Source, sites: Sites) -> Processes:
    """Hosts are added to the sites where processes need them. Raises InvalidTopology without a broker."""
    file, report = source.file, source.report
    drafts = draft_brokers(file, source.data, report)
    if not drafts:
        report.add(("brokers",), "there is no broker", "a group with `count: 1` or more")
        report.raise_if_any()
    brokers = place_brokers(drafts, file, sites, report)
    overlay = build_overlay(file, drafts, brokers, sites, source.folder, report)
    check_options(file, drafts, report)
    check_algorithms(file, drafts, report)
    placed = resolve_clients(source, brokers, sites)
    programs, groups = build_programs(file, source.data, brokers, sites, report)
    for program in programs:
        program.argv = seen_from(source.folder, program.argv)
        program.env = variables_seen_from(source.folder, program.env)
    return Processes(brokers, drafts, overlay, placed.clients, placed.drafts, programs, groups)


def resolve_clients(source: Source, brokers: list[Broker], sites: Sites) -> Placed:
    """Clients written out, then those that workloads make for them."""
    file, report = source.file, source.report
    placed = attach_clients(draft_clients(file, source.data, report), file, brokers, sites, report)
    for client in placed.clients:
        complete_publications(client, placed.drafts[client.id], source.folder, report)
    publishers = [client for client in placed.clients if client.publications]
    made = build_workloads(file, publishers, brokers, report)
    add_interests(file, placed.clients, report)
    add_templates(file, placed.clients, publishers, report)
    for client in placed.clients:
        check_filters(client, placed.drafts[client.id], report)
    placed.clients += made.clients
    placed.drafts |= made.drafts
    return placed
