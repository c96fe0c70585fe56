"""The paper's pseudo-code, transcribed: plain sets, everything recomputed, nothing clever.

Slow and obvious on purpose; the fast algorithms must choose the very same edges.
Ties: the edge that comes first by (earlier node, later node), the node that came first.
"""

from __future__ import annotations

from heapq import heapify, heappop, heapreplace
from itertools import combinations
from random import Random

Node = int
Topic = int
Edge = tuple[Node, Node]
Interests = dict[Node, set[Topic]]


def pair(u: Node, v: Node) -> Edge:
    return (u, v) if u < v else (v, u)


def component(interests: Interests, edges: set[Edge], topic: Topic, start: Node) -> set[Node]:
    seen, stack = {start}, [start]
    while stack:
        u = stack.pop()
        for a, b in edges:
            if u in (a, b):
                w = b if u == a else a
                if w not in seen and topic in interests[w]:
                    seen.add(w)
                    stack.append(w)
    return seen


def contribution(interests: Interests, topics: set[Topic], edges: set[Edge], e: Edge) -> int:
    u, v = e
    return sum(1 for t in topics & interests[u] & interests[v] if v not in component(interests, edges, t, u))


def is_connected(interests: Interests, topics: set[Topic], edges: set[Edge]) -> bool:
    for t in topics:
        nodes = [v for v in interests if t in interests[v]]
        if nodes and component(interests, edges, t, nodes[0]) != set(nodes):
            return False
    return True


def degree(edges: set[Edge], v: Node) -> int:
    return sum(1 for e in edges if v in e)


def first_best(contrib: dict[Edge, int]) -> Edge:
    return min(contrib, key=lambda e: (-contrib[e], e))


def construct_low_edges(
    domain: set[Node],
    interests: Interests,
    topics: set[Topic],
    current: set[Edge],
    potential: set[Edge],
    rho: float,
) -> set[Edge]:
    """Algorithm 2, over the whole overlay's components, choosing among `potential`."""
    new: set[Edge] = set()
    while not is_connected(interests, topics, current | new):
        graph = current | new
        contrib = {e: contribution(interests, topics, graph, e) for e in potential - graph}
        top = max(degree(graph, v) for v in domain)
        e1 = first_best(contrib)
        low = {e: c for e, c in contrib.items() if all(degree(graph, v) < top for v in e)}
        e2 = first_best(low) if low else e1
        new.add(e1 if contrib[e1] > rho * contrib[e2] else e2)
    return new


def low_oda(interests: Interests, rho: float) -> set[Edge]:
    """Algorithm 1."""
    topics = set().union(*interests.values()) if interests else set()
    return construct_low_edges(
        set(interests), interests, topics, set(), set(combinations(sorted(interests), 2)), rho
    )


def low_oda_quadratic(interests: Interests, rho: float) -> set[Edge]:
    """Algorithms 1 and 2 as lemma 1 (a) has them, in O(|V|^2 |T|): contributions are kept, not recomputed.

    Plain Python: a merge lowers the pairs across its two components, and two heaps, put right when looked
    at, give the best edge of all and the best of those that do not raise the maximum degree.
    """
    nodes = sorted(interests)
    contrib = {(u, v): len(interests[u] & interests[v]) for u, v in combinations(nodes, 2)}
    group = {(t, v): [v] for v in nodes for t in interests[v]}  # shared by the nodes of a component
    open_ = sum(map(len, interests.values())) - len(set().union(*interests.values()))
    degrees = dict.fromkeys(nodes, 0)
    every = [(-c, e) for e, c in contrib.items() if c]
    heapify(every)
    low: list[tuple[int, Edge]] = []
    top, new = 0, set()
    while open_:
        e1 = _settle(every, contrib, {})
        e2 = _settle(low, contrib, degrees, top) if low else None
        e = e1 if e2 is None or contrib[e1] > rho * contrib[e2] else e2
        new.add(e)
        open_ -= _merge(interests, contrib, group, e)
        contrib[e] = 0
        for v in e:
            degrees[v] += 1
        if max(degrees[v] for v in e) > top:
            top = max(degrees[v] for v in e)
            low = [(-c, p) for p, c in contrib.items() if c and degrees[p[0]] < top and degrees[p[1]] < top]
            heapify(low)
    return new


def _settle(
    heap: list[tuple[int, Edge]], contrib: dict[Edge, int], degrees: dict[Node, int], top: int = 0
) -> Edge | None:
    """The best edge, after entries that are out of date were put right or thrown away; None = no edge."""
    while heap:
        said, e = heap[0]
        if contrib[e] == 0 or (degrees and max(degrees[e[0]], degrees[e[1]]) >= top):
            heappop(heap)
        elif -said != contrib[e]:
            heapreplace(heap, (-contrib[e], e))
        else:
            return e
    return None


def _merge(
    interests: Interests, contrib: dict[Edge, int], group: dict[tuple[Topic, Node], list[Node]], e: Edge
) -> int:
    merged = 0
    for t in interests[e[0]] & interests[e[1]]:
        ours, theirs = group[t, e[0]], group[t, e[1]]
        if ours is theirs:
            continue
        merged += 1
        for u in ours:
            for v in theirs:
                contrib[pair(u, v)] -= 1
        for v in theirs:
            group[t, v] = ours
        ours += theirs
    return merged


def naive_join(interests: Interests, edges: set[Edge], v: Node, rho: float) -> set[Edge]:
    """Algorithm 3; `interests` holds the joining node already."""
    potential = {pair(v, u) for u in interests if u != v}
    return construct_low_edges(set(interests), interests, interests[v], edges, potential, rho)


def naive_leave(interests: Interests, edges: set[Edge], topics: set[Topic], rho: float) -> set[Edge]:
    """Algorithm 4; node and links are gone from `interests` and `edges` already."""
    potential = set(combinations(sorted(interests), 2)) - edges
    return construct_low_edges(set(interests), interests, topics, edges, potential, rho)


def greedy_backups(interests: Interests, weight: dict[Node, int], v: Node, coverage: int) -> set[Node]:
    """Algorithm 11; weights do not change while one node's backups are built."""
    backups: set[Node] = set()
    weight = dict(weight)
    for _ in range(coverage):
        rest = set(interests[v])
        candidates = set(interests) - {v} - backups
        while rest and candidates:
            candidates = {u for u in candidates if interests[u] & rest}
            if not candidates:
                break
            w = min(sorted(candidates), key=lambda u, rest=rest: weight[u] / len(interests[u] & rest))  # type: ignore[misc]
            backups.add(w)
            weight[w] += 1  # w gained a primary
            candidates.discard(w)
            rest -= interests[w]
    return backups


def primal_dual_backups(
    interests: Interests, start: dict[Node, int], v: Node, coverage: int, random: Random
) -> set[Node]:
    """Algorithm 12, with the same draws as the fast one."""
    backups: set[Node] = set()
    for _ in range(coverage):
        weight = {u: start[u] for u in interests if u not in {v} | backups}
        rest = set(interests[v])
        while rest:
            ordered = sorted(rest)
            t = ordered[int(random.random() * len(ordered))]
            candidates = sorted(u for u in weight if t in interests[u])
            if not candidates:
                rest.discard(t)
                continue
            positive = [u for u in candidates if weight[u] > 0]
            w = min(positive or candidates, key=lambda u, weight=weight: weight[u])  # type: ignore[misc]
            lightest = weight[w]
            backups.add(w)
            rest -= interests[w]
            for u in positive:
                weight[u] -= lightest
    return backups
