"""Clients and programs: groups unrolled, attached to brokers, given their publications and subscriptions."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from testbed.topology.file.schema import TopologyFile
from testbed.topology.file.schema.base import id_problem
from testbed.topology.file.schema.processes import (
    ClientGroup,
    ClientItem,
    ProgramGroup,
    Publications,
    TimedSubscription,
)
from testbed.topology.plan import Broker, Client, Program, PublicationPlan, SubscriptionPlan
from testbed.topology.resolve.expand import Steps, check_size, filled_group, item_id, variables_of
from testbed.topology.resolve.network import Sites
from testbed.topology.resolve.report import Report
from testbed.topology.seeding import Draw, seed_for


@dataclass
class ClientDraft:
    """A client of the file before it is attached to a broker."""

    id: str
    group: str
    spec: ClientGroup
    item: ClientItem
    path: Steps
    variables: dict[str, Any] = field(default_factory=dict)

    def setting(self, name: str) -> Any:
        """The item's value, or the group's."""
        own = getattr(self.item, name)
        return own if own not in (None, "") else getattr(self.spec, name)

    def place(self, name: str) -> Steps:
        """Where that value stands."""
        own = getattr(self.item, name, None) not in (None, "")
        return (*self.path, "items", self.id, name) if own else (*self.path, name)


@dataclass
class Placed:
    """What the clients step made."""

    clients: list[Client] = field(default_factory=list)
    drafts: dict[str, ClientDraft] = field(default_factory=dict)  # by client id


def draft_clients(file: TopologyFile, data: dict[str, Any], report: Report) -> list[ClientDraft]:
    """Explicit clients (no workload) in file order."""
    drafts = []
    for name, group in file.clients.items():
        raw = data["clients"][name]
        if group.workload is None:
            drafts.extend(_drafts_of(name, group, raw, report))
    return drafts


def _drafts_of(name: str, group: ClientGroup, raw: dict[str, Any], report: Report) -> list[ClientDraft]:
    path: Steps = ("clients", name)
    check_size(raw, path, report)
    rows = variables_of(name, raw)
    out = []
    for variables in [None] if rows is None else rows:
        id = item_id(name, raw, variables)
        if text := id_problem(id):
            report.add(path, text, key=True)
        spec = group if variables is None else filled_group(ClientGroup, raw, variables, path, report)
        if spec is not None:
            out.append(ClientDraft(id, name, spec, group.items.get(id, ClientItem()), path, variables or {}))
    for id in group.items:
        if id not in {draft.id for draft in out}:
            report.unknown((*path, "items", id), f"client of group {name!r} called", id, [d.id for d in out])
    return out


def attach_clients(
    drafts: list[ClientDraft], file: TopologyFile, brokers: list[Broker], sites: Sites, report: Report
) -> Placed:
    """Clients with a broker and a host."""
    placed = Placed()
    picker = BrokerPicker(file.seed, brokers)
    for draft in drafts:
        broker = picker.pick(draft, file.defaults.client.broker, report)
        if broker is None:
            continue
        client = _client(draft, broker, file, sites, report)
        placed.clients.append(client)
        placed.drafts[client.id] = draft
    return placed


class BrokerPicker:
    """Chooses the broker of a client: by name or by policy."""

    def __init__(self, seed: int, brokers: list[Broker]) -> None:
        self.seed = seed
        self.brokers = brokers
        self.by_id = {broker.id: broker for broker in brokers}
        self.load = dict.fromkeys(self.by_id, 0)
        self._turn: dict[str, int] = {}
        self._draws: dict[str, Draw] = {}

    def pick(self, draft: ClientDraft, default: str, report: Report) -> Broker | None:
        wanted = str(draft.setting("broker") or default)
        broker = self._chosen(wanted, draft.group)
        if broker is None:
            known = [*self.by_id, "random", "round_robin", "least_used"]
            report.unknown(draft.place("broker"), "broker", wanted, known)
            return None
        self.load[broker.id] += 1
        return broker

    def _chosen(self, wanted: str, group: str) -> Broker | None:
        if wanted in self.by_id:
            return self.by_id[wanted]
        if not self.brokers:
            return None
        if wanted == "random":
            draw = self._draws.setdefault(group, Draw(self.seed, "client brokers", group))
            return draw.choice(self.brokers)
        if wanted == "round_robin":
            turn = self._turn.get(group, 0)
            self._turn[group] = turn + 1
            return self.brokers[turn % len(self.brokers)]
        if wanted == "least_used":
            return min(self.brokers, key=lambda broker: self.load[broker.id])
        return None


def _client(draft: ClientDraft, broker: Broker, file: TopologyFile, sites: Sites, report: Report) -> Client:
    subscriptions = [_subscription(one) for one in draft.setting("subscribe") or []]
    publish = publications(draft, file, report)
    drawn = draft.spec.topics is not None or draft.spec.templates is not None
    check_kind(draft, publish is not None, bool(subscriptions) or drawn, report)
    return Client(
        id=draft.id,
        node=_node(draft, broker, file, sites, report),
        broker=broker.id,
        group=draft.group,
        advertisements=list(draft.setting("advertise") or []),  # none: completed by the source
        subscriptions=subscriptions,
        publications=publish,
        seed=seed_for(file.seed, "client", draft.id),
        on_crash=draft.item.on_crash or draft.spec.on_crash or file.defaults.client.on_crash,
    )


def _subscription(one: str | TimedSubscription) -> SubscriptionPlan:
    if isinstance(one, str):
        return SubscriptionPlan(one)
    return SubscriptionPlan(one.filter, one.group, one.at, one.until)


def _node(draft: ClientDraft, broker: Broker, file: TopologyFile, sites: Sites, report: Report) -> str:
    wanted = str(draft.setting("node") or file.defaults.client.node)
    if wanted in ("broker", "publisher"):
        return broker.node
    if wanted in sites.nodes:
        return sites.host_at(wanted)
    report.unknown(draft.place("node"), "node", wanted, ["broker", *sites.graph.sites])
    return broker.node


def publications(draft: ClientDraft, file: TopologyFile, report: Report) -> PublicationPlan | None:
    """The plan of a client's publications, or None when it publishes nothing."""
    spec = draft.setting("publish")
    if isinstance(spec, str):
        if spec not in file.workload:
            report.unknown(draft.place("publish"), "workload", spec, file.workload)
            return None
        spec = file.workload[spec]
    if spec is None:
        return None
    assert isinstance(spec, Publications)
    period = max(1, round(1_000_000 / spec.rate))
    first = spec.first
    if first is None:
        # A seeded offset within the first period, so that publishers do not beat in step.
        first = file.defaults.client.lead + Draw(file.seed, "first publication", draft.id).below(period)
    return PublicationPlan(
        source=spec.source,
        parameters=_parameters(spec, draft),
        period_us=period,
        arrival=spec.arrival,
        first_us=first,
        count=spec.count,
        payload_bytes=spec.payload,
    )


def _parameters(spec: Publications, draft: ClientDraft) -> dict[str, Any]:
    """The source's parameters; a `symbol` of the group's `for_each` need not be repeated."""
    parameters = dict(spec.parameters)
    if spec.source == "stock" and "symbol" in draft.variables:
        parameters.setdefault("symbol", draft.variables["symbol"])
    return parameters


def check_kind(draft: ClientDraft, publishes: bool, subscribes: bool, report: Report) -> None:
    kind = draft.spec.kind
    if kind == "publisher" and not publishes:
        report.add(draft.path, f"publisher {draft.id!r} publishes nothing", "add `publish:`", key=True)
    elif kind == "subscriber" and not subscribes:
        hint = "add `subscribe:`, `topics:`, `templates:` or `workload:`"
        report.add(draft.path, f"subscriber {draft.id!r} subscribes to nothing", hint, key=True)
    elif not publishes and not subscribes:
        hint = "add `publish:` or `subscribe:`"
        report.add(draft.path, f"client {draft.id!r} neither publishes nor subscribes", hint, key=True)


def build_programs(
    file: TopologyFile, data: dict[str, Any], brokers: list[Broker], sites: Sites, report: Report
) -> tuple[list[Program], dict[str, ProgramGroup]]:
    """Programs and, by id, the group each came from."""
    hosts = {broker.id: broker.node for broker in brokers}
    programs, origin = [], {}
    for name, group in file.programs.items():
        raw = data["programs"][name]
        path: Steps = ("programs", name)
        check_size(raw, path, report)
        rows = variables_of(name, raw)
        for variables in [None] if rows is None else rows:
            id = item_id(name, raw, variables)
            if text := id_problem(id):
                report.add(path, text, key=True)
            spec = group if variables is None else filled_group(ProgramGroup, raw, variables, path, report)
            if spec is None:
                continue
            node = hosts.get(spec.node) or (sites.host_at(spec.node) if spec.node in sites.nodes else "")
            if not node:
                report.unknown((*path, "node"), "node or broker", spec.node, [*sites.graph.sites, *hosts])
            programs.append(Program(id, node, spec.command, spec.env, name, spec.on_crash or "abort"))
            origin[id] = spec
    return programs, origin
