"""PlanetLab-like round trips for any number of sites, synthesised from a four-region model.

The model describes a measurement of 490 PlanetLab nodes (NetLatency-Data; Zhu et al., IEEE/ACM ToN 25,
2017): which share of the nodes lies in each region, and for every pair of regions the median round trip
with its 10 and 90 % quantiles. Each pair of sites draws from a lognormal with these three points (another
width below the median than above it). Triangle violations come for free, as pairs are drawn one by one.
"""

from __future__ import annotations

import math

from testbed.topology.file.schema.network import PlanetLabNetwork
from testbed.topology.generators.graph import Graph
from testbed.topology.generators.rtt_matrix import Matrix, matrix_graph
from testbed.topology.seeding import Draw

SHARES = {"A": 0.45, "B": 0.41, "C": 0.11, "D": 0.03}
QUANTILES_MS: dict[str, tuple[float, float, float]] = {  # 10 %, 50 %, 90 %
    "AA": (18, 46, 83),
    "AB": (106, 150, 217),
    "AC": (192, 286, 346),
    "AD": (263, 303, 370),
    "BB": (16, 50, 151),
    "BC": (161, 223, 297),
    "BD": (162, 210, 281),
    "CC": (17, 87, 181),
    "CD": (339, 404, 543),
    "DD": (1, 87, 139),  # measured as 0: nodes of one site
}
Z90 = 1.2815515655446004
MIN_MS, MAX_MS = 0.1, 2984.0


def planetlab(spec: PlanetLabNetwork, draw: Draw) -> Graph:
    regions = regions_of(spec.sites, draw)
    matrix = rtt_matrix(regions, draw)
    return matrix_graph(matrix, spec.access, draw, [f"region-{region}" for region in regions])


def regions_of(sites: int, draw: Draw) -> list[str]:
    """Regions in the model's proportions (largest remainders), in random order."""
    exact = {region: share * sites for region, share in SHARES.items()}
    counts = {region: int(amount) for region, amount in exact.items()}
    by_remainder = sorted(exact, key=lambda region: (counts[region] - exact[region], region))
    for region in by_remainder[: sites - sum(counts.values())]:
        counts[region] += 1
    return draw.shuffled([region for region, count in counts.items() for _ in range(count)])


def rtt_matrix(regions: list[str], draw: Draw) -> Matrix:
    """A symmetric matrix in ms, to the microsecond."""
    n = len(regions)
    matrix = [[0.0] * n for _ in range(n)]
    for i in range(n):
        for j in range(i + 1, n):
            cell = "".join(sorted((regions[i], regions[j])))
            matrix[i][j] = matrix[j][i] = draw_rtt(QUANTILES_MS[cell], draw)
    return matrix


def draw_rtt(quantiles: tuple[float, float, float], draw: Draw) -> float:
    low, median, high = quantiles
    z = draw.normal()
    sigma = (math.log(median / low) if z < 0 else math.log(high / median)) / Z90
    return round(min(MAX_MS, max(MIN_MS, median * math.exp(sigma * z))), 3)
