"""Users who move between the cells of a map and linger there: check-ins as a model.

Made to have the quantiles of a set of three million check-ins in the U.S. (Zhao, Kim and Venkatasubramanian,
DEBS 2013, section 6.1.1): 11 visits to cells per user in three months, four distinct cells, a third of a
user's cells visited once, half of the visits shorter than a day, a tenth longer than a week. A user goes to a
new cell the less often the more it knows, else back to one it knows, by how often it was there (exploration
and preferential return); new cells are a heavy-tailed jump away.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Cells = npt.NDArray[np.int32]

WEEK_BY_DAY = np.log(7.0) / 1.2815515594  # sigma of a lognormal with median 1 and a tenth above 7


@dataclass(frozen=True)
class Map:
    """Cells in rows and columns, numbered row by row; a cell is as wide as high."""

    rows: int = 20
    columns: int = 60

    @property
    def cells(self) -> int:
        return self.rows * self.columns

    def place(self, cell: Cells) -> tuple[Cells, Cells]:
        return cell // self.columns, cell % self.columns

    def distance(self, a: Cells, b: Cells) -> Floats:
        """In cells, as the crow flies."""
        (row, column), (other_row, other_column) = self.place(a), self.place(b)
        return np.asarray(np.hypot(row - other_row, column - other_column), dtype=np.float64)


@dataclass(frozen=True)
class Mobility:
    """The model's parameters; times in days."""

    days: float = 92.0
    visits: float = 12.6  # of a user, on average; lognormal. In 92 days 11.25 of them are seen
    visits_sigma: float = 0.8
    linger: float = 1.0  # the median; lognormal
    linger_sigma: float = WEEK_BY_DAY
    exploring: float = 0.6  # share of moves to a new cell: exploring * known ** -saturation
    saturation: float = 1.0
    jump: float = 1.6  # exponent of the distances of new cells
    popularity: float = 1.0  # Zipf exponent of home cells


@dataclass(frozen=True, eq=False)
class Visits:
    """Of all users, by user and time; arrays of equal length. The last visit of a user has no end."""

    user: npt.NDArray[np.int32]
    cell: Cells
    begin: Floats  # days
    end: Floats  # days; infinite for the last one


def visits(users: int, area: Map, mobility: Mobility, random: np.random.Generator) -> Visits:
    """A user is there from its first visit on and stays in the last cell; what would begin after the end is
    cut.
    """
    counts = _counts(users, mobility, random)
    cells = _walks(counts, area, mobility, random)
    linger = random.lognormal(np.log(mobility.linger), mobility.linger_sigma, cells.shape)
    order = np.arange(cells.shape[1])
    going = order < counts[:, None] - 1  # the last visit does not end
    stay = np.where(going, linger, 0.0)
    free = np.maximum(mobility.days - stay.sum(axis=1), 0.0)
    begin = random.random(users)[:, None] * free[:, None] + np.cumsum(stay, axis=1) - stay
    seen = (order < counts[:, None]) & (begin < mobility.days)
    end = np.where(going, begin + stay, np.inf)
    user = np.broadcast_to(np.arange(users, dtype=np.int32)[:, None], cells.shape)
    return Visits(user[seen], cells[seen], begin[seen], end[seen])


def _counts(users: int, mobility: Mobility, random: np.random.Generator) -> npt.NDArray[np.int64]:
    """At least one each; the mean of a rounded lognormal is that of the law."""
    sigma = mobility.visits_sigma
    drawn = random.lognormal(np.log(mobility.visits) - sigma**2 / 2, sigma, users)
    return np.maximum(np.rint(drawn), 1).astype(np.int64)


def _walks(
    counts: npt.NDArray[np.int64], area: Map, mobility: Mobility, random: np.random.Generator
) -> Cells:
    """[user, visit]: the cells one after the other; two visits in a row are to different cells."""
    users, longest = counts.size, int(counts.max(initial=1))
    cells: Cells = np.full((users, longest), -1, dtype=np.int32)
    cells[:, 0] = _homes(users, area, mobility, random)
    known = np.ones(users, dtype=np.int64)
    for visit in range(1, longest):
        moving = np.nonzero(counts > visit)[0]
        explores = (known[moving] == 1) | (
            random.random(moving.size) < mobility.exploring * known[moving] ** -mobility.saturation
        )
        new, back = moving[explores], moving[~explores]
        cells[new, visit] = _explored(cells[new, :visit], area, mobility, random)
        cells[back, visit] = _returned(cells[back, :visit], random)
        known[new] += 1
    return cells


def _homes(users: int, area: Map, mobility: Mobility, random: np.random.Generator) -> Cells:
    """Cells have ranks of popularity in a random order."""
    weight = np.arange(1, area.cells + 1, dtype=np.float64) ** -mobility.popularity
    ranked = random.permutation(area.cells)
    return ranked[random.choice(area.cells, users, p=weight / weight.sum())].astype(np.int32)


def _returned(history: Cells, random: np.random.Generator) -> Cells:
    """One of the past visits at random, but not to where the user is."""
    found: Cells = history[:, -1].copy()
    waiting = np.arange(len(history))
    while waiting.size:
        tried = history[waiting, random.integers(history.shape[1], size=waiting.size)]
        elsewhere = tried != history[waiting, -1]
        found[waiting[elsewhere]] = tried[elsewhere]
        waiting = waiting[~elsewhere]
    return found


def _explored(history: Cells, area: Map, mobility: Mobility, random: np.random.Generator) -> Cells:
    """A cell on the map where the user has not been, a jump away; after many tries any such cell."""
    row, column = area.place(history[:, -1])
    found: Cells = np.full(len(history), -1, dtype=np.int32)
    waiting = np.arange(len(history))
    for _ in range(200):
        if not waiting.size:
            return found
        distance = random.random(waiting.size) ** (-1 / (mobility.jump - 1))
        angle = random.random(waiting.size) * 2 * np.pi
        far = np.minimum(distance, area.rows + area.columns)
        to_row = np.rint(row[waiting] + far * np.sin(angle)).astype(np.int64)
        to_column = np.rint(column[waiting] + far * np.cos(angle)).astype(np.int64)
        inside = (to_row >= 0) & (to_row < area.rows) & (to_column >= 0) & (to_column < area.columns)
        cell = to_row * area.columns + to_column
        good = inside & ~(history[waiting] == cell[:, None]).any(axis=1)
        found[waiting[good]] = cell[good]
        waiting = waiting[~good]
    for user in waiting:
        unknown = np.setdiff1d(np.arange(area.cells), history[user])
        found[user] = random.choice(unknown) if unknown.size else history[user, 0]
    return found


def friends(users: int, each: int, random: np.random.Generator) -> npt.NDArray[np.int32]:
    """[user, k]: distinct others whom the user follows, drawn uniformly."""
    if each >= users:
        raise ValueError(f"{users} users cannot have {each} friends each")
    found = np.empty((users, each), dtype=np.int32)
    waiting = np.arange(users)
    while waiting.size:
        drawn = random.integers(users, size=(waiting.size, each), dtype=np.int32)
        ordered = np.sort(drawn, axis=1)
        bad = (drawn == waiting[:, None]).any(axis=1) | (ordered[:, 1:] == ordered[:, :-1]).any(axis=1)
        found[waiting[~bad]] = drawn[~bad]
        waiting = waiting[bad]
    return found
