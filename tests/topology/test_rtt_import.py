"""Round-trip matrices: every pair's planned round trip is the matrix's, triangle violations included.

TESTBED_RTT_MATRIX may name a file with a measured matrix (ms) to try instead of the made-up one.
"""

from __future__ import annotations

import os
from itertools import combinations
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from testbed.topology.file.problems import InvalidTopology
from testbed.topology.generators.rtt_import import import_rtt
from testbed.topology.generators.rtt_matrix import BadMatrix, Matrix, drawn_sites, halves, parse_matrix
from testbed.topology.load import load_plan_file, load_plan_text
from testbed.topology.paths import Routing
from testbed.topology.seeding import Draw


def made_up(n: int) -> Matrix:
    """Symmetric, to the microsecond, with odd values and plenty of triangle violations."""
    draw = Draw(11, "made-up matrix")
    matrix = [[0.0] * n for _ in range(n)]
    for i, j in combinations(range(n), 2):
        matrix[i][j] = matrix[j][i] = draw.between(101, 400_001) / 1000
    return matrix


def matrix() -> Matrix:
    measured = os.environ.get("TESTBED_RTT_MATRIX")
    return parse_matrix(Path(measured).read_text()) if measured else made_up(90)


@pytest.mark.parametrize(("sites", "seed"), [(63, 10), (5, 1)])
def test_each_pairs_round_trip_equals_the_matrix(sites: int, seed: int) -> None:
    whole = matrix()
    plan = load_plan_text(import_rtt(whole, sites, seed, "imported", "matrix.txt"))
    chosen = drawn_sites(len(whole), sites, Draw(seed, "import-rtt"))
    routing = Routing(plan.network)
    broken = 0
    for i, j in combinations(range(sites), 2):
        planned = routing.rtt_us(f"h{i + 1}", f"h{j + 1}")
        assert planned == round(whole[chosen[i]][chosen[j]] * 1000)
        through = min(
            routing.rtt_us(f"h{i + 1}", f"h{k + 1}") + routing.rtt_us(f"h{k + 1}", f"h{j + 1}")
            for k in range(min(sites, 10))
            if k not in (i, j)
        )
        broken += planned > through
    assert broken > 0 or sites < 10, "no triangle violation was kept"
    assert len(plan.brokers) == sites
    assert len(plan.network.pairs) == sites * (sites - 1)
    assert all(link.latency_us == 0 for link in plan.network.links)


def test_the_same_seed_draws_the_same_sites() -> None:
    assert import_rtt(made_up(30), 8, 3, "a", "m") == import_rtt(made_up(30), 8, 3, "a", "m")
    assert import_rtt(made_up(30), 8, 3, "a", "m") != import_rtt(made_up(30), 8, 4, "a", "m")


@given(st.floats(0, 3000), st.floats(0, 3000))
def test_halves_add_up_to_the_round_trip(there: float, back: float) -> None:
    a, b = halves(there, back)
    assert a + b == round((there + back) * 500)
    assert a >= 0
    assert b >= 0


def test_a_matrix_in_a_file_beside_the_topology(tmp_path: Path) -> None:
    (tmp_path / "m.txt").write_text("# ms\n0\t10\t20.5\n10,0,30\n20.5 30 0\n")
    (tmp_path / "t.yaml").write_text(
        "name: x\nnetwork: {generator: rtt_matrix, file: m.txt}\nbrokers: {B: {count: 3}}\n"
    )
    routing = Routing(load_plan_file(tmp_path / "t.yaml").network)
    assert [routing.rtt_us("h1", "h2"), routing.rtt_us("h1", "h3"), routing.rtt_us("h2", "h3")] == [
        10_000,
        20_500,
        30_000,
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "two sites or more"),
        ("0 1\n1 0 2\n", "row 2 has 3 values"),
        ("0 x\n1 0\n", "line 1, column 3: 'x' is no number"),
        ("0 -1\n1 0\n", "is no round trip"),
        ("0 nan\nnan 0\n", "is no round trip"),
        ("0 inf\ninf 0\n", "is no round trip"),
    ],
)
def test_bad_matrices(text: str, message: str) -> None:
    with pytest.raises(BadMatrix, match=message):
        parse_matrix(text)


@pytest.mark.parametrize("sites", [1, 31])
def test_more_sites_than_there_are(sites: int) -> None:
    with pytest.raises(InvalidTopology, match="of a matrix with 30"):
        import_rtt(made_up(30), sites, 1, "x", "m")
