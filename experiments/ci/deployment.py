"""A network of the study as a plan: brokers of one system, with the clients and costs that flow is told."""

from __future__ import annotations

from typing import Any, Literal

from experiments.ci.networks import Matrix, distances, graph_of
from experiments.ci.systems import CI, STATIC
from experiments.ci.workload import TICK_US, Law, Setting, broker_seed, clients, costs, ids, tree
from testbed.flow.selforganising.play import Costs
from testbed.topology.plan import (
    Broker,
    Event,
    Gate,
    Link,
    Network,
    Node,
    OverlayLink,
    PairLatency,
    Phase,
    Plan,
    Probes,
)
from testbed.topology.seeding import Draw

COST_UNIT_US = 100  # of matching is a processing cost of 1
HIGHEST = 10.0  # c_max, p_max
CLIENTS = "clients"
LinkCosts = Literal["given", "measured"]


def plan_of(setting: Setting, law: Law, seed: int, system: str, links: LinkCosts, eta: int = 4) -> Plan:
    """With `given` costs nothing else takes time at a broker, as in flow. With `measured` ones the network is
    another one from t1 on, and the brokers' matching times are others from t2 on."""
    names, paid = ids(setting), costs(setting, seed, HIGHEST, HIGHEST, redrawn=2)
    matrices = latencies(setting, seed)
    algorithm = {"name": CI if system == STATIC else system, "interval_us": setting.interval * TICK_US,
                 "eta": 0 if system == STATIC else eta}  # fmt: skip
    made = [
        broker(n, name, broker_seed(seed, name), algorithm | (
            given(n, names, paid[0]) if links == "given" else measured(matrices)
        ))
        for n, name in enumerate(names)
    ]  # fmt: skip
    everybody = clients(setting, seed)
    for client in everybody:
        client.node = f"h{names.index(client.broker) + 1}"
    plan = Plan(
        f"ci-{system}-{law}",
        seed,
        network(names, matrices[0]),
        made,
        [OverlayLink(names[a], names[b]) for a, b in tree(setting, law, seed)],
        everybody,
        phases=[
            Phase("overlay", names, Gate(links_up=True, timeout_us=120_000_000)),
            Phase(CLIENTS, [client.id for client in everybody], run_for_us=setting.end_us),
        ],
        probes=Probes(pairs=[("h1", "h2"), ("h2", f"h{len(names)}")]),
        sample_every_us=0,
    )
    if links == "measured":
        for one, processing in zip(made, paid[0].processing, strict=True):
            one.options = {"matching_us": matching_us(processing)}
        plan.events = changes(setting, names, matrices[1], paid[2].processing)
    return plan


def latencies(setting: Setting, seed: int) -> tuple[Matrix, Matrix]:
    """One way, before and after t1: brokers at the places that `costs` has drawn."""
    graph, places = graph_of(seed, setting.domains, setting.routers), Draw(seed, "places")
    return distances(graph, setting.brokers, places), distances(graph, setting.brokers, places)


def network(names: list[str], matrix: Matrix) -> Network:
    """All hosts at one switch, each with its latency to each other one."""
    hosts = [f"h{n + 1}" for n in range(len(names))]
    nodes = [Node("net", "switch"), *(Node(host, "host", f"10.0.0.{n + 1}") for n, host in enumerate(hosts))]
    pairs = [PairLatency(*pair) for pair in pairs_of(hosts, matrix)]
    return Network(nodes, [Link(f"l{n + 1}", "net", host) for n, host in enumerate(hosts)], pairs)


def pairs_of(hosts: list[str], matrix: Matrix) -> list[tuple[str, str, int]]:
    return [(a, b, round(matrix[n][m])) for n, a in enumerate(hosts) for m, b in enumerate(hosts) if n != m]


def broker(n: int, name: str, seed: int, algorithm: dict[str, Any]) -> Broker:
    return Broker(name, f"h{n + 1}", f"10.0.0.{n + 1}", 5000, algorithm=algorithm, seed=seed)


def given(n: int, names: list[str], paid: Costs) -> dict[str, Any]:
    links = {name: cost for m, (name, cost) in enumerate(zip(names, paid.links[n], strict=True)) if m != n}
    return {"link_costs": links, "processing_cost": paid.processing[n]}


def measured(matrices: tuple[Matrix, Matrix]) -> dict[str, Any]:
    return {"measured": True, "link_unit_us": link_unit_us(matrices), "cost_unit_us": COST_UNIT_US}


def link_unit_us(matrices: tuple[Matrix, Matrix]) -> int:
    """So that the longest round trip of all costs c_max."""
    return round(2 * max(float(matrix.max()) for matrix in matrices) / HIGHEST)


def matching_us(processing: float) -> int:
    return max(1, round(processing * COST_UNIT_US))


def changes(setting: Setting, names: list[str], matrix: Matrix, processing: list[float]) -> list[Event]:
    t1, t2 = change_instants_us(setting)
    hosts = [f"h{n + 1}" for n in range(len(names))]
    pairs = [list(pair) for pair in pairs_of(hosts, matrix)]
    return [
        Event(CLIENTS, t1, "reshape", "", {"pairs": pairs}),
        *(
            Event(CLIENTS, t2, "set", name, {"matching_us": matching_us(cost)})
            for name, cost in zip(names, processing, strict=True)
        ),
    ]


def change_instants_us(setting: Setting) -> tuple[int, int]:
    return setting.end_us // 3, 2 * setting.end_us // 3
