"""Section 5's networks: 100 domains of 100 routers by BRITE's model, 100 brokers at random places."""

from __future__ import annotations

from functools import lru_cache

import numpy
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import dijkstra

from testbed.topology.file.schema.network import WaxmanLevel, WaxmanNetwork
from testbed.topology.generators.waxman import waxman
from testbed.topology.seeding import Draw

Matrix = NDArray[numpy.float64]


@lru_cache(maxsize=2)
def graph_of(seed: int, domains: int, routers: int) -> coo_array:
    """Latencies between routers, as a sparse matrix."""
    spec = WaxmanNetwork(
        generator="waxman", domains=WaxmanLevel(nodes=domains), routers=WaxmanLevel(nodes=routers)
    )
    made = waxman(spec, Draw(seed, "network"))
    place = {node.id: at for at, node in enumerate(made.nodes)}
    ends = [(place[link.a], place[link.b]) for link in made.links]
    delays = [float(link.latency_us) for link in made.links]
    n = len(made.nodes)
    return coo_array((delays, tuple(zip(*ends, strict=True))), shape=(n, n))


def distances(graph: coo_array, brokers: int, draw: Draw) -> Matrix:
    """Between brokers at different places of the graph, along the shortest paths."""
    places = draw.sample(range(graph.shape[0]), brokers)
    found: Matrix = dijkstra(graph.tocsr(), directed=False, indices=places)[:, places]
    return found


def normalised(matrix: Matrix, highest: float) -> list[list[float]]:
    """Linear, so that the cheapest pair costs 0 and the dearest `highest`."""
    pairs = matrix[~numpy.eye(len(matrix), dtype=bool)]
    low, high = float(pairs.min()), float(pairs.max())
    scaled = (matrix - low) / ((high - low) or 1.0) * highest
    numpy.fill_diagonal(scaled, 0.0)
    made: list[list[float]] = scaled.tolist()
    return made


def independent(brokers: int, highest: float, draw: Draw) -> list[list[float]]:
    """Uniform, of each pair for itself."""
    costs = [[0.0] * brokers for _ in range(brokers)]
    for a in range(brokers):
        for b in range(a):
            costs[a][b] = costs[b][a] = draw.unit() * highest
    return costs
