"""The plan in numbers: nodes, links, round-trip quantiles, the longest way through the overlay."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from itertools import combinations, pairwise

from testbed.topology.file.quantities import show_us
from testbed.topology.paths import Routing
from testbed.topology.plan import OverlayLink, Plan
from testbed.topology.seeding import Draw

QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
SAMPLE = 5000  # pairs; exact for up to a hundred hosts


@dataclass
class Summary:
    hosts: int
    switches: int
    links: int
    shaped_pairs: int
    tiers: dict[str, int]
    rtt_us: dict[float, int] = field(default_factory=dict)  # quantile: round trip between broker hosts
    overlay_rtt_us: dict[float, int] = field(default_factory=dict)  # of overlay links
    longest_path: list[str] = field(default_factory=list)  # brokers
    longest_path_us: int = 0  # one way


def summarize(plan: Plan) -> Summary:
    network = plan.network
    routing = Routing(network)
    node_of = {broker.id: broker.node for broker in plan.brokers}
    pairs = sampled(list(dict.fromkeys(node_of.values())), plan.seed)
    longest = longest_path([broker.id for broker in plan.brokers], plan.overlay)
    hops = [(node_of[a], node_of[b]) for a, b in pairwise(longest)]
    return Summary(
        hosts=sum(node.kind == "host" for node in network.nodes),
        switches=sum(node.kind == "switch" for node in network.nodes),
        links=len(network.links),
        shaped_pairs=len(network.pairs),
        tiers=dict(sorted(Counter(link.tier for link in network.links if link.tier).items())),
        rtt_us=quantiles([routing.rtt_us(a, b) for a, b in pairs]),
        overlay_rtt_us=quantiles([routing.rtt_us(node_of[link.a], node_of[link.b]) for link in plan.overlay]),
        longest_path=longest,
        longest_path_us=sum(routing.one_way_us(a, b) for a, b in hops),
    )


def sampled(hosts: list[str], seed: int) -> list[tuple[str, str]]:
    pairs = list(combinations(hosts, 2))
    return pairs if len(pairs) <= SAMPLE else Draw(seed, "summary").sample(pairs, SAMPLE)


def quantiles(values: list[int]) -> dict[float, int]:
    """The value at or below which that share lies; empty for no values."""
    if not values:
        return {}
    ordered = sorted(values)
    return {q: ordered[min(len(ordered) - 1, int(q * len(ordered)))] for q in QUANTILES}


def neighbours_of(ids: list[str], overlay: list[OverlayLink]) -> dict[str, list[str]]:
    neighbours: dict[str, list[str]] = {id: [] for id in ids}
    for link in overlay:
        neighbours[link.a].append(link.b)
        neighbours[link.b].append(link.a)
    return neighbours


def longest_path(ids: list[str], overlay: list[OverlayLink]) -> list[str]:
    """A longest of the shortest paths by hops: exact on trees, where two searches suffice."""
    if not ids:
        return []
    neighbours = neighbours_of(ids, overlay)
    end = _farthest(ids[0], neighbours)[-1]
    return _farthest(end, neighbours)


def _farthest(start: str, neighbours: dict[str, list[str]]) -> list[str]:
    """The path to a farthest broker, by breadth-first search."""
    came = {start: ""}
    queue = [start]
    for broker in queue:
        for other in neighbours[broker]:
            if other not in came:
                came[other] = broker
                queue.append(other)
    path = [queue[-1]]
    while came[path[-1]]:
        path.append(came[path[-1]])
    return path[::-1]


def summary_lines(summary: Summary) -> list[str]:
    """For people."""
    tiers = ", ".join(f"{count} {tier}" for tier, count in summary.tiers.items())
    out = [
        f"network   {summary.hosts} hosts, {summary.switches} switches, {summary.links} links"
        + (f" ({tiers})" if tiers else "")
    ]
    if summary.shaped_pairs:
        out.append(f"          {summary.shaped_pairs} paths shaped pair by pair")
    out += _rtt_line("RTT       between broker hosts", summary.rtt_us)
    out += _rtt_line("          of overlay links", summary.overlay_rtt_us)
    if summary.longest_path:
        ends = f"{summary.longest_path[0]} to {summary.longest_path[-1]}"
        hops = len(summary.longest_path) - 1
        out.append(f"overlay   longest path {hops} hops ({ends}, {show_us(summary.longest_path_us)} one way)")
    return out


def _rtt_line(title: str, values: dict[float, int]) -> list[str]:
    if not values:
        return []
    parts = ", ".join(f"{q:.0%} {show_us(us)}" for q, us in values.items())
    return [f"{title}: {parts}"]
