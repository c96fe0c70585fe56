"""Brokers: groups unrolled, placed, given addresses and options."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from testbed.topology.file.schema import TopologyFile
from testbed.topology.file.schema.base import id_problem
from testbed.topology.file.schema.processes import BrokerGroup, BrokerItem
from testbed.topology.plan import Broker
from testbed.topology.resolve.expand import Steps, check_size, filled_group, item_id, merged, variables_of
from testbed.topology.resolve.network import Sites
from testbed.topology.resolve.report import Report
from testbed.topology.seeding import Draw, seed_for


@dataclass
class BrokerDraft:
    """A broker before its group's placement."""

    id: str
    group: str
    spec: BrokerGroup
    item: BrokerItem
    path: Steps
    site: str = ""  # as the file names it; empty when a policy places it

    def place(self, name: str) -> Steps:
        """Where the value stands: with the item, or with the group."""
        return (*self.path, "items", self.id, name) if getattr(self.item, name) else (*self.path, name)

    @property
    def start_at(self) -> str:
        return self.item.start_at or self.spec.start_at

    @property
    def stop_at(self) -> str:
        return self.item.stop_at or self.spec.stop_at


def draft_brokers(file: TopologyFile, data: dict[str, Any], report: Report) -> list[BrokerDraft]:
    """All brokers of the file, in file order."""
    drafts: list[BrokerDraft] = []
    for name, group in file.brokers.items():
        raw = data["brokers"][name] or {}
        drafts.extend(_drafts_of(name, group or BrokerGroup(), raw, report))
    return drafts


def _drafts_of(name: str, group: BrokerGroup, raw: dict[str, Any], report: Report) -> list[BrokerDraft]:
    path: Steps = ("brokers", name)
    check_size(raw, path, report)
    rows = variables_of(name, raw)
    out = []
    for variables in [None] if rows is None else rows:
        id = item_id(name, raw, variables)
        text = id_problem(id)
        if text:
            report.add(path, text, key=True)
        spec = group if variables is None else filled_group(BrokerGroup, raw, variables, path, report)
        if spec is None:
            continue
        item = group.items.get(id, BrokerItem())
        out.append(BrokerDraft(id, name, spec, item, path, item.node or spec.node))
    for id in group.items:
        if id not in {draft.id for draft in out}:
            report.unknown((*path, "items", id), f"broker of group {name!r} called", id, [d.id for d in out])
    return out


def place_brokers(
    drafts: list[BrokerDraft], file: TopologyFile, sites: Sites, report: Report
) -> list[Broker]:
    """Brokers with hosts, ports and options. Named places are taken first, so policies go round them."""
    used: set[str] = set()
    by_id = {draft.id: draft for draft in drafts}
    follows = {
        draft.id: draft.site for draft in drafts if draft.site in by_id and draft.site not in sites.nodes
    }
    for id, other in follows.items():
        if other in follows:
            hint = f"{other} is itself placed beside another; name that one"
            report.add(by_id[id].place("node"), f"{id} is placed beside {other}", hint)
    for draft in drafts:
        if draft.id in follows:
            continue
        if draft.site and draft.site not in sites.nodes:
            report.unknown(draft.place("node"), "node", draft.site, sites.nodes)
            draft.site = sites.graph.sites[0]
        elif draft.site:
            used.add(draft.site)
    for name in dict.fromkeys(draft.group for draft in drafts):
        _place_group([d for d in drafts if d.group == name and not d.site], file, sites, used, report)
    for id, other in follows.items():
        by_id[id].site = by_id[other].site if other not in follows else sites.graph.sites[0]
    brokers = [_broker(draft, file, sites) for draft in drafts]
    give_ports(drafts, brokers, file.defaults.broker.port, report)
    return brokers


def give_ports(drafts: list[BrokerDraft], brokers: list[Broker], first: int, report: Report) -> None:
    """Ports of the file are kept; the others count up on each host, past those."""
    taken: dict[tuple[str, int], str] = {}
    for draft, broker in zip(drafts, brokers, strict=True):
        broker.port = draft.item.port or draft.spec.port or 0
        other = taken.setdefault((broker.node, broker.port), broker.id)
        if broker.port and other != broker.id:
            hint = "give each its own, or leave `port` out"
            report.add(
                draft.place("port"), f"{broker.id} and {other} both listen on port {broker.port}", hint
            )
    for broker in brokers:
        if not broker.port:
            broker.port = next(port for port in range(first, 65536) if (broker.node, port) not in taken)
            taken[broker.node, broker.port] = broker.id


def _place_group(
    drafts: list[BrokerDraft], file: TopologyFile, sites: Sites, used: set[str], report: Report
) -> None:
    if not drafts:
        return
    spec, path = drafts[0].spec, drafts[0].path
    allowed = sites.matching(spec.nodes) if spec.nodes else list(sites.graph.sites)
    for i, pattern in enumerate(spec.nodes):
        if not sites.matching([pattern]):
            report.unknown((*path, "nodes", i), "node or domain", pattern, sites.graph.sites)
    policy = spec.place or file.defaults.broker.place
    free = [site for site in allowed if site not in used]
    if policy == "one_per_node" and len(free) < len(drafts):
        hint = "use a larger network, or `place: round_robin`"
        report.add(
            path, f"{len(drafts)} brokers, but only {len(free)} free nodes to place them on", hint, key=True
        )
    pool = free if policy == "one_per_node" else allowed
    if policy == "random":
        draw = Draw(file.seed, "placement", drafts[0].group)
        pool = draw.shuffled(free) + draw.shuffled([site for site in allowed if site in used])
    pool = pool or list(sites.graph.sites)
    for k, draft in enumerate(drafts):
        draft.site = pool[k % len(pool)]
        used.add(draft.site)


def _broker(draft: BrokerDraft, file: TopologyFile, sites: Sites) -> Broker:
    host = sites.host_at(draft.site)
    defaults = file.defaults.broker
    algorithm = draft.item.algorithm
    if algorithm is None:
        algorithm = draft.spec.algorithm if draft.spec.algorithm is not None else file.algorithm
    return Broker(
        id=draft.id,
        node=host,
        address="",  # known when the network is finished
        port=0,  # given when all brokers are placed
        options=merged(defaults.options, draft.spec.options, draft.item.options),
        algorithm=dict(algorithm),
        group=draft.group,
        on_crash=draft.item.on_crash or draft.spec.on_crash or defaults.on_crash,
        seed=seed_for(file.seed, "broker", draft.id),
    )
