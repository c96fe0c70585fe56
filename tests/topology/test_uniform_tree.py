"""`overlay: {generator: uniform}`: every tree with the same probability."""

from __future__ import annotations

from collections import Counter
from itertools import product

import networkx as nx
import pytest
from scipy.stats import chisquare

from testbed.topology.generators.uniform_tree import tree_of_code, uniform_tree
from testbed.topology.seeding import Draw


@pytest.mark.parametrize("n", [2, 3, 4, 5, 6])
def test_codes_and_trees_are_one_to_one(n: int) -> None:
    """Cayley: n^(n-2) trees, and each code gives another one; its decoding is networkx's."""
    trees = set()
    for code in product(range(n), repeat=n - 2):
        edges = frozenset(frozenset(edge) for edge in tree_of_code(list(code), n))
        if n > 2:
            assert edges == {frozenset(edge) for edge in nx.from_prufer_sequence(list(code)).edges}
        trees.add(edges)
    assert len(trees) == n ** (n - 2)


def test_all_sixteen_trees_of_four_come_equally_often() -> None:
    seen = Counter(frozenset(uniform_tree(4, Draw(seed, "overlay"))) for seed in range(3200))
    assert len(seen) == 16
    assert chisquare(list(seen.values())).pvalue > 0.001


def test_ways_are_as_long_as_in_a_uniform_tree() -> None:
    """Two nodes are about sqrt(pi n / 2) apart, 12.5 at 100; in a recursive tree about 7.4."""
    means = []
    for seed in range(30):
        graph = nx.Graph(uniform_tree(100, Draw(seed, "overlay")))
        means.append(nx.average_shortest_path_length(graph))
    assert 10.5 < sum(means) / len(means) < 14


@pytest.mark.parametrize(("n", "edges"), [(0, []), (1, []), (2, [(1, 0)])])
def test_small(n: int, edges: list[tuple[int, int]]) -> None:
    assert uniform_tree(n, Draw(1, "overlay")) == edges
