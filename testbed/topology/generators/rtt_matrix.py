"""Networks given by the round trip of every pair.

No set of links can give an arbitrary matrix: real ones break the triangle inequality. So all hosts hang on
one switch by links without latency, and each host delays what it sends by destination: half of the round
trip on each side. Every pair's round trip is then exactly the matrix's, violations included. It costs one
shaped path per ordered pair, n(n-1) in all.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator

from testbed.topology.file.schema.network import LinkQuality
from testbed.topology.generators.graph import Graph, quality_link
from testbed.topology.plan import PairLatency
from testbed.topology.seeding import Draw

SWITCH = "net"
MAX_RTT_MS = 60_000.0

Matrix = list[list[float]]


class BadMatrix(ValueError):
    """The text is no matrix of round trips; says where."""

    def __init__(self, what: str, line: int = 0, column: int = 0) -> None:
        self.what, self.line, self.column = what, line, column
        super().__init__(f"line {line}, column {column}: {what}" if line else what)


def parse_matrix(text: str) -> Matrix:
    """Round trips in ms: one line per site, values separated by white space or commas; # starts a comment."""
    rows: Matrix = []
    for number, line in enumerate(text.splitlines(), start=1):
        words = re.finditer(r"[^\s,]+", line.partition("#")[0])
        row = [_value(word[0], number, word.start() + 1) for word in words]
        if row:
            rows.append(row)
    if len(rows) < 2:
        raise BadMatrix("a matrix needs two sites or more")
    for i, row in enumerate(rows):
        if len(row) != len(rows):
            raise BadMatrix(
                f"row {i + 1} has {len(row)} values, but there are {len(rows)} rows; it must be square"
            )
    return rows


def _value(word: str, line: int, column: int) -> float:
    try:
        value = float(word)
    except ValueError:
        raise BadMatrix(f"{word[:20]!r} is no number of milliseconds", line, column) from None
    if not math.isfinite(value) or not 0 <= value <= MAX_RTT_MS:
        raise BadMatrix(f"{word} is no round trip between 0 and {MAX_RTT_MS:g} ms", line, column)
    return value


def submatrix(matrix: Matrix, sites: list[int]) -> Matrix:
    return [[matrix[i][j] for j in sites] for i in sites]


def drawn_sites(count: int, wanted: int, draw: Draw) -> list[int]:
    """Indices of the wanted number of sites, in the matrix's order."""
    return sorted(draw.sample(range(count), wanted))


def matrix_graph(rtt_ms: Matrix, access: LinkQuality, draw: Draw, domains: list[str] | None = None) -> Graph:
    """Hosts h1 ... hn on one switch, and a shaped path per ordered pair."""
    graph = Graph()
    graph.switch(SWITCH)
    n = len(rtt_ms)
    for i in range(n):
        angle = 2 * math.pi * i / n
        domain = domains[i] if domains else ""
        graph.sites.append(graph.host(f"h{i + 1}", domain, math.cos(angle), math.sin(angle)))
        graph.links.append(quality_link(SWITCH, f"h{i + 1}", access, draw, "access"))
    graph.pairs += pair_latencies(rtt_ms, [f"h{i + 1}" for i in range(n)])
    return graph


def pair_latencies(rtt_ms: Matrix, hosts: list[str]) -> Iterator[PairLatency]:
    """Of every ordered pair. Raises BadMatrix when there are not as many sites as hosts."""
    if len(rtt_ms) != len(hosts):
        raise BadMatrix(f"{len(rtt_ms)} sites, but the network gives round trips to {len(hosts)} hosts")
    for i, a in enumerate(hosts):
        for j in range(i + 1, len(hosts)):
            there, back = halves(rtt_ms[i][j], rtt_ms[j][i])
            yield PairLatency(a, hosts[j], there)
            yield PairLatency(hosts[j], a, back)


def halves(rtt_ij_ms: float, rtt_ji_ms: float) -> tuple[int, int]:
    """One-way latencies whose sum is the round trip to the microsecond (the mean of the two directions)."""
    total = round((rtt_ij_ms + rtt_ji_ms) * 500)
    there = min(round(rtt_ij_ms * 500), total)
    return there, total - there
