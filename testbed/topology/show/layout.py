"""Where to draw things: places in the plane whose distances resemble given ones.

Classical multidimensional scaling, then stress majorization with weights 1/d^2 (Gansner, Koren and North,
"Graph drawing by stress majorization", 2004), which spreads crowded neighbourhoods. Neither draws at random.
"""

from __future__ import annotations

from collections import deque
from typing import Any

import numpy

Array = numpy.ndarray[Any, numpy.dtype[numpy.float64]]


def scaled(distance: Array) -> Array:
    """Classical scaling: the plane that explains most of the distances."""
    n = len(distance)
    centre = numpy.eye(n) - 1 / n
    values, vectors = numpy.linalg.eigh(-0.5 * centre @ distance**2 @ centre)
    flat: Array = vectors[:, -2:] * numpy.sqrt(numpy.maximum(values[-2:], 0))
    return flat[:, ::-1]


def spread(distance: Array, steps: int = 80) -> Array:
    """Places that minimise the squared relative error of distances."""
    n = len(distance)
    angles = numpy.arange(n) * 2.399963  # a sunflower, to part places that scaling lays on each other
    places = scaled(distance) + 1e-3 * numpy.stack([numpy.cos(angles), numpy.sin(angles)], axis=1)
    weights = 1 / numpy.maximum(distance, 1e-9) ** 2
    numpy.fill_diagonal(weights, 0)
    inverse = numpy.linalg.pinv(numpy.diag(weights.sum(axis=1)) - weights)
    for _ in range(steps):
        apart = numpy.linalg.norm(places[:, None] - places[None], axis=2)
        pull = -weights * distance / numpy.maximum(apart, 1e-9)
        numpy.fill_diagonal(pull, 0)
        numpy.fill_diagonal(pull, -pull.sum(axis=1))
        places = inverse @ pull @ places
    return places


def graph_distances(n: int, edges: list[tuple[int, int, float]]) -> Array:
    """Lengths of the paths with fewest edges; parts that are not connected stand a bit further apart."""
    neighbours: list[list[tuple[int, float]]] = [[] for _ in range(n)]
    for a, b, length in edges:
        neighbours[a].append((b, length))
        neighbours[b].append((a, length))
    distance = numpy.full((n, n), -1.0)
    for start in range(n):
        distance[start, start] = 0.0
        queue = deque([start])
        while queue:
            at = queue.popleft()
            for other, length in neighbours[at]:
                if distance[start, other] < 0:
                    distance[start, other] = distance[start, at] + length
                    queue.append(other)
    distance[distance < 0] = distance.max() + 1
    symmetric: Array = numpy.maximum(distance, distance.T)
    return symmetric
