"""Random connected graphs on a plane, with GT-ITM's six edge methods (Zegura et al., INFOCOM 1996).

With d the distance of two nodes, L the largest possible distance and n the number of nodes, an edge exists
with probability: waxman1 a exp(-d/(b L)); waxman2 a exp(-e/(b L)) with e drawn from (0, L); random a;
exponential a exp(-d/(L-d)); doar_leslie (c/n) a exp(-d/(b L)); locality a within c L, else b.
"""

from __future__ import annotations

import math

from testbed.topology.file.schema.network import EdgeModel
from testbed.topology.seeding import Draw

Point = tuple[float, float]
TRIES = 100


def points(n: int, scale: float, draw: Draw) -> list[Point]:
    return [(draw.unit() * scale, draw.unit() * scale) for _ in range(n)]


def connected_graph(places: list[Point], model: EdgeModel, scale: float, draw: Draw) -> list[tuple[int, int]]:
    """Edges of a random connected graph over the places.

    Draws whole graphs up to 100 times, as GT-ITM does; if none is connected, joins the parts of the last one
    by the shortest missing edges, so that the answer is always connected.
    """
    edges: list[tuple[int, int]] = []
    for _ in range(TRIES):
        edges = _one_graph(places, model, scale, draw)
        if len(_parts(len(places), edges)) == 1:
            return edges
    return _joined(places, edges)


def _one_graph(places: list[Point], model: EdgeModel, scale: float, draw: Draw) -> list[tuple[int, int]]:
    n = len(places)
    reach = math.sqrt(2.0) * scale
    return [
        (i, j)
        for i in range(n)
        for j in range(i + 1, n)
        if draw.unit() < edge_probability(math.dist(places[i], places[j]), reach, n, model, draw)
    ]


def edge_probability(d: float, reach: float, n: int, model: EdgeModel, draw: Draw) -> float:
    a, b, c = model.alpha, model.beta, model.gamma
    if model.method == "random":
        return a
    if model.method == "waxman1":
        return a * math.exp(-d / (reach * b))
    if model.method == "waxman2":
        return a * math.exp(-draw.unit() / b)
    if model.method == "exponential":
        return a * math.exp(-d / (reach - d)) if d < reach else 0.0
    if model.method == "doar_leslie":
        return c / n * a * math.exp(-d / (reach * b))
    return a if d <= reach * c else b


def _parts(n: int, edges: list[tuple[int, int]]) -> list[list[int]]:
    neighbours: list[list[int]] = [[] for _ in range(n)]
    for i, j in edges:
        neighbours[i].append(j)
        neighbours[j].append(i)
    part_of = [-1] * n
    parts: list[list[int]] = []
    for start in range(n):
        if part_of[start] >= 0:
            continue
        part = [start]
        part_of[start] = len(parts)
        for node in part:
            for other in neighbours[node]:
                if part_of[other] < 0:
                    part_of[other] = len(parts)
                    part.append(other)
        parts.append(part)
    return parts


def _joined(places: list[Point], edges: list[tuple[int, int]]) -> list[tuple[int, int]]:
    edges = list(edges)
    parts = _parts(len(places), edges)
    while len(parts) > 1:
        inside = set(parts[0])
        outside = [i for i in range(len(places)) if i not in inside]
        _, i, j = min((math.dist(places[i], places[j]), i, j) for i in parts[0] for j in outside)
        edges.append((min(i, j), max(i, j)))
        parts = _parts(len(places), edges)
    return edges
