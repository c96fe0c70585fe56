"""Where brokers and users are in the location model (6.1.1), and the delays between them.

A broker stands in each cell of one degree. Round trips are random with a mean proportional to the distance:
10 us per km one way, and a uniform factor of 0.8 to 1.2 for each pair, fixed for a run.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from testbed.flow.dynatops.story import Ints
from testbed.workload.checkins import Map, Visits

Floats = npt.NDArray[np.float64]
MS_PER_CELL = 0.95  # 3,500 square miles are 95 km squared
INSIDE = 0.5  # cells: the distance of a user to a broker in its own cell


@dataclass(frozen=True, eq=False)
class Places:
    """Of cells' centres, in cells of one degree."""

    row: Floats
    column: Floats

    def apart(self) -> Floats:
        return np.asarray(
            np.hypot(self.row[:, None] - self.row, self.column[:, None] - self.column), dtype=np.float64
        )


def places_of(area: Map) -> Places:
    row, column = np.divmod(np.arange(area.cells), area.columns)
    return Places(row + 0.5, column + 0.5)


def square_places(area: Map, side: int) -> Places:
    row, column = np.divmod(np.arange(side * side), side)
    return Places((row + 0.5) * area.rows / side, (column + 0.5) * area.columns / side)


def links(places: Places, random: np.random.Generator) -> Floats:
    """[a, b]: one way between brokers, in ms."""
    apart = places.apart()
    factor = np.triu(random.uniform(0.8, 1.2, apart.shape), 1)
    return np.asarray(MS_PER_CELL * apart * (factor + factor.T))


def accesses(places: Places, random: np.random.Generator) -> Floats:
    """[b, cell]: one way between a broker and a user in a cell, in ms."""
    apart = np.maximum(places.apart(), INSIDE)
    return np.asarray(MS_PER_CELL * apart * random.uniform(0.8, 1.2, apart.shape))


BLOCKS = {1: (1, 1), 2: (1, 2), 5: (1, 5), 10: (2, 5), 20: (4, 5), 50: (5, 10), 100: (10, 10)}


def clusters(area: Map, size: int) -> Ints:
    """[b]: clusters are blocks of cells next to each other."""
    rows, columns = BLOCKS[size]
    row, column = np.divmod(np.arange(area.cells, dtype=np.int32), area.columns)
    return np.asarray(row // rows * (-(-area.columns // columns)) + column // columns, dtype=np.int32)


def squared(seen: Visits, area: Map, side: int, random: np.random.Generator) -> Visits:
    """The same visits in the cells of the square grid: each somewhere in its cell of one degree. A visit to
    the cell in which the user is already is none.
    """
    row, column = area.place(seen.cell)
    r = ((row + random.random(row.size)) * side / area.rows).astype(np.int32)
    c = ((column + random.random(row.size)) * side / area.columns).astype(np.int32)
    cell = (r * side + c).astype(np.int32)
    same = (np.diff(seen.user, prepend=-1) == 0) & (np.diff(cell, prepend=-1) == 0)
    kept = replace(seen, cell=cell)
    return Visits(kept.user[~same], cell[~same], kept.begin[~same], kept.end[~same])
