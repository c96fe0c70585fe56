"""The tables of all runs, as figures and claims ask for them.

Of runs that failed there are no rows. A claim that asks for rows they should be among is undecided.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import pandas

from testbed.reproduction.claim import Undecided
from testbed.reproduction.collect import Found
from testbed.reproduction.point import Point

RUN = ["testbed", "system", "workload", "spread", "seed"]
CLIENT, DELIVERY = "client", "delivery"  # what counts once in an average
AVERAGED = ("delay_ms", "hops")


class Failed(NamedTuple):
    """A run that should be there."""

    testbed: str
    workload: str
    system: str
    spread: int
    seed: int

    @staticmethod
    def of(point: Point) -> Failed:
        chosen: dict[str, Any] = {name: point.labels[name] for name in Failed._fields}
        return Failed(**chosen)

    def __str__(self) -> str:
        place = f"{self.system} on {self.testbed}, {self.workload} workload"
        return f"{place}, X = {self.spread}, seed {self.seed}"


@dataclass(frozen=True)
class Data:
    runs: pandas.DataFrame
    moves: pandas.DataFrame
    timeline: pandas.DataFrame = field(default_factory=pandas.DataFrame)
    spread: int = 16  # X of the weight and threshold runs
    failed: tuple[Failed, ...] = ()
    average: str = CLIENT
    delays: pandas.DataFrame = field(default_factory=pandas.DataFrame)

    @staticmethod
    def of(found: Found, spread: int) -> Data:
        runs, moves, minutes, delays = (
            found.table(name) for name in ("runs", "relocations", "timeline", "delays")
        )
        lost = tuple(Failed.of(p) for p in found.failed)
        return Data(runs, moves, minutes, spread, lost, delays=delays)

    def drawn(self) -> Data:
        """For figures: what there is. For claims what is not there is not passed over."""
        return replace(self, failed=())

    def need(self, testbed: str = "", workload: str = "", systems: Collection[str] = ()) -> None:
        """Raises Undecided when one of these runs failed; what is left out means all."""
        lost = [
            str(run)
            for run in self.failed
            if testbed in ("", run.testbed)
            and workload in ("", run.workload)
            and (not systems or run.system in systems)
        ]
        if lost:
            raise Undecided("; ".join(lost))

    def chosen(self, testbed: str, workload: str, system: str) -> pandas.DataFrame:
        self.need(testbed, workload, (system,))
        r = self.runs
        return r[(r.testbed == testbed) & (r.workload == workload) & (r.system == system)]

    def column(self, value: str) -> str:
        """Of a delay or a number of hops: as it is averaged."""
        return f"{CLIENT}_{value}" if self.average == CLIENT and value in AVERAGED else value

    def lacks_clients(self) -> bool:
        """There are rows of runs that were measured before, whose logs are gone."""
        column = f"{CLIENT}_{AVERAGED[0]}"
        return bool(len(self.runs)) and (column not in self.runs or bool(self.runs[column].isna().any()))

    def curve(self, testbed: str, workload: str, system: str, value: str) -> pandas.Series:
        """Mean over seeds, by X; empty if it was not run. An X of which a seed is not known is not there:
        systems are compared over the same seeds."""
        chosen, column = self.chosen(testbed, workload, system), self.column(value)
        if column not in chosen:
            return pandas.Series(dtype=float)
        known = chosen.groupby("spread")[column].agg(lambda values: values.mean(skipna=False))
        return known[known.notna()]

    def at(self, testbed: str, workload: str, system: str, spread: int, value: str) -> float | None:
        """Mean over seeds at one X."""
        curve = self.curve(testbed, workload, system, value)
        return float(curve[spread]) if spread in curve.index else None

    def selections(self, testbed: str, *systems: str) -> pandas.DataFrame:
        self.need(testbed, "clustered", systems)
        moves = self.moves
        if not len(moves):
            return moves
        chosen = (moves.event == "selected") & (moves.testbed == testbed) & (moves.workload == "clustered")
        return moves[chosen & moves.system.isin(systems)]

    def migrations(self, testbed: str) -> pandas.DataFrame:
        """Each migration with the path of the selection that ordered it."""
        self.need(testbed)
        moves = self.moves
        if not len(moves):
            return moves
        moves = moves[moves.testbed == testbed]
        keys = [*RUN, "advertisement"]
        selected = moves[(moves.event == "selected") & (moves.path > 0)].sort_values("t_us")
        migrated = moves[moves.event == "migrated"].sort_values("t_us")
        if not len(selected) or not len(migrated):
            return moves.iloc[:0]
        ordered = selected[["t_us", "path", *keys]]
        joined = pandas.merge_asof(migrated, ordered, on="t_us", by=keys, suffixes=("_own", ""))
        return joined[joined.path.notna()]
