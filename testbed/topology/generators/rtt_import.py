"""A topology file from a matrix of measured round trips."""

from __future__ import annotations

from typing import Any

from testbed.topology.file.document import write_yaml
from testbed.topology.file.problems import refuse
from testbed.topology.generators.rtt_matrix import Matrix, drawn_sites, submatrix
from testbed.topology.resolve.network import MAX_MATRIX_SITES
from testbed.topology.seeding import Draw

COMMENT = """\
{sites} of the {all} sites of {source} (seed {seed}), one broker each, in a balanced binary tree.
Each pair's round trip is exactly the matrix's: all hosts hang on one switch without latency, and every host
delays what it sends by destination, half of the round trip on each side ({paths} shaped paths)."""


def import_rtt(matrix: Matrix, sites: int, seed: int, name: str, source: str) -> str:
    """The text of a topology file over a seeded choice of sites; 0 takes all of them."""
    wanted = sites or len(matrix)
    if not 2 <= wanted <= len(matrix):
        raise refuse(source, f"{wanted} sites of a matrix with {len(matrix)}", f"2 to {len(matrix)}")
    if wanted > MAX_MATRIX_SITES:
        raise refuse(
            source, f"{wanted} sites are too many to emulate", f"--sites {MAX_MATRIX_SITES} or fewer"
        )
    chosen = drawn_sites(len(matrix), wanted, Draw(seed, "import-rtt"))
    data: dict[str, Any] = {
        "name": name,
        "seed": seed,
        "network": {"generator": "rtt_matrix", "matrix": matrix_text(submatrix(matrix, chosen))},
        "brokers": {"B": {"count": wanted, "place": "one_per_node"}},
        "overlay": {"generator": "tree", "fanout": 2},
    }
    data["clients"] = {
        "pub": {
            "count": 3,
            "publish": {"source": "stock", "rate": "60/min", "parameters": {"symbol": "S{i}"}},
        },
        "sub": {"workload": "random", "of": "pub", "per_publisher": 4, "spread": 4},
    }
    paths = wanted * (wanted - 1)
    return write_yaml(
        data, COMMENT.format(sites=wanted, all=len(matrix), source=source, seed=seed, paths=paths)
    )


def matrix_text(matrix: Matrix) -> str:
    """Milliseconds to the microsecond, without needless zeros."""
    return "".join(" ".join(f"{round(value, 3):.10g}" for value in row) + "\n" for row in matrix)
