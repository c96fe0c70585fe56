"""Subscribers made from a rule: rated subscriptions to a group of publishers, topics, or templates."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from testbed.errors import InputError
from testbed.topology.file.schema import TopologyFile
from testbed.topology.file.schema.processes import ClientGroup, ClientItem, TopicInterests
from testbed.topology.plan import Broker, Client, SubscriptionPlan
from testbed.topology.resolve.clients import ClientDraft
from testbed.topology.resolve.expand import MAX_PROCESSES, Steps, fill
from testbed.topology.resolve.report import Report
from testbed.topology.seeding import Draw, seed_for
from testbed.workload import topics
from testbed.workload.placement import place
from testbed.workload.subscriptions import filters
from testbed.workload.templates import PANDA, Templates


@dataclass
class WorkloadClients:
    """Clients of all workload groups, with the draft each came from."""

    clients: list[Client]
    drafts: dict[str, ClientDraft]


def build_workloads(
    file: TopologyFile, publishers: list[Client], brokers: list[Broker], report: Report
) -> WorkloadClients:
    """Subscribers of the groups with `workload`, in file order."""
    made = WorkloadClients([], {})
    for name, group in file.clients.items():
        if group.workload is None:
            continue
        path: Steps = ("clients", name)
        meant = _publishers(group, publishers, path, "workload", report)
        if len(meant) * group.per_publisher > MAX_PROCESSES:
            size = len(meant) * group.per_publisher
            report.add((*path, "per_publisher"), f"the group has {size} clients", f"at most {MAX_PROCESSES}")
            continue
        for publisher in meant:
            for client in _subscribers(name, group, publisher, brokers, file, path, report):
                made.clients.append(client)
                made.drafts[client.id] = ClientDraft(client.id, name, group, ClientItem(), path)
    return made


def _publishers(
    group: ClientGroup, publishers: list[Client], path: Steps, key: str, report: Report
) -> list[Client]:
    """Publishers of stock quotes in the group that `of` names; `key`: what needs them."""
    quoting = [c for c in publishers if c.publications and c.publications.source == "stock"]
    found = [client for client in quoting if group.of in ("", client.group, client.id)]
    if not found:
        groups = sorted({client.group for client in quoting})
        what = f"no publisher of stock quotes in {group.of!r}" if group.of else "no publisher of stock quotes"
        where = (*path, "of") if group.of else (*path, key)
        hint = f"there are {', '.join(groups)}" if groups else "add clients with `publish: {source: stock}`"
        report.add(where, f"{what} to subscribe to", hint)
    return found


def _subscribers(
    name: str,
    group: ClientGroup,
    publisher: Client,
    brokers: list[Broker],
    file: TopologyFile,
    path: Steps,
    report: Report,
) -> list[Client]:
    assert publisher.publications is not None
    assert group.workload is not None
    symbol = _symbol(publisher)
    hosts = {broker.id: broker.node for broker in brokers}
    draw = Draw(file.seed, "workload", name, publisher.id)
    try:
        seats = place(group.workload, list(hosts), group.per_publisher, group.spread, draw, group.shares)
        rated = filters(symbol, publisher.seed)
    except InputError as error:
        report.add((*path, "shares"), str(error), error.hint or "")
        return []
    at_publisher = (group.node or file.defaults.client.node) == "publisher"
    out = []
    for n, (rate_class, broker) in enumerate(seats, start=1):
        variables = {"publisher": publisher.id, "symbol": symbol, "i": n, "group": name}
        id = str(fill(group.id or "{group}-{publisher}-{i}", variables))
        out.append(
            Client(
                id=id,
                node=publisher.node if at_publisher else hosts[broker],
                broker=broker,
                group=name,
                subscriptions=[SubscriptionPlan(rated[rate_class], rate_class)],
                seed=seed_for(file.seed, "client", id),
                on_crash=group.on_crash or file.defaults.client.on_crash,
            )
        )
    return out


def _symbol(publisher: Client) -> str:
    assert publisher.publications is not None
    return str(publisher.publications.parameters.get("symbol", ""))


def add_interests(file: TopologyFile, clients: list[Client], report: Report) -> None:
    """Give the clients of groups with `topics` their topic subscriptions."""
    for name, group in file.clients.items():
        if group.topics is None:
            continue
        members = [client for client in clients if client.group == name]
        draw = Draw(file.seed, "topics", name)
        for client, subscriptions in zip(
            members, _interests(group.topics, len(members), draw, name, report), strict=False
        ):
            client.subscriptions.extend(subscriptions)


def _interests(
    spec: TopicInterests, clients: int, draw: Draw, name: str, report: Report
) -> list[list[SubscriptionPlan]]:
    try:
        parameters: dict[str, Any] = dict(spec.parameters)
        shares = topics.weights(spec.law, spec.topics, **parameters)
        chosen = topics.interests(clients, spec.per_client, shares, draw)
    except InputError as error:
        report.add(("clients", name, "topics"), str(error), error.hint or "")
        return []
    return [
        [
            SubscriptionPlan(topics.topic_filter(topics.topic_name(number)), topics.topic_name(number))
            for number in own
        ]
        for own in chosen
    ]


def add_templates(
    file: TopologyFile, clients: list[Client], publishers: list[Client], report: Report
) -> None:
    """Give the clients of groups with `templates` their subscriptions."""
    for name, group in file.clients.items():
        spec, path = group.templates, ("clients", name)
        quoting = _publishers(group, publishers, path, "templates", report) if spec is not None else []
        if spec is None or not quoting:
            continue
        sources = [(_symbol(publisher), publisher.seed) for publisher in quoting]
        try:
            templates = Templates(PANDA if spec.shares is None else spec.shares, sources, spec.idle)
        except InputError as error:
            report.add((*path, "templates"), str(error), error.hint or "")
            continue
        for client in [client for client in clients if client.group == name]:
            draw = Draw(file.seed, "templates", client.id)
            drawn = [templates.draw(draw) for _ in range(spec.per_client)]
            client.subscriptions.extend(SubscriptionPlan(text, label) for text, label in drawn)
