"""The tables of all runs, as figures and claims ask for them."""

from __future__ import annotations

from dataclasses import dataclass, field

import pandas

RUN = ["testbed", "system", "workload", "spread", "seed"]


@dataclass(frozen=True)
class Data:
    runs: pandas.DataFrame
    moves: pandas.DataFrame
    timeline: pandas.DataFrame = field(default_factory=pandas.DataFrame)
    spread: int = 16  # X of the weight and threshold runs

    def chosen(self, testbed: str, workload: str, system: str) -> pandas.DataFrame:
        r = self.runs
        return r[(r.testbed == testbed) & (r.workload == workload) & (r.system == system)]

    def curve(self, testbed: str, workload: str, system: str, value: str) -> pandas.Series:
        """Mean over seeds, by X; empty if it was not run."""
        chosen = self.chosen(testbed, workload, system)
        return chosen[chosen[value].notna()].groupby("spread")[value].mean()

    def at(self, testbed: str, workload: str, system: str, spread: int, value: str) -> float | None:
        """Mean over seeds at one X."""
        curve = self.curve(testbed, workload, system, value)
        return float(curve[spread]) if spread in curve.index else None

    def selections(self, testbed: str, *systems: str) -> pandas.DataFrame:
        moves = self.moves
        if not len(moves):
            return moves
        chosen = (moves.event == "selected") & (moves.testbed == testbed) & (moves.workload == "clustered")
        return moves[chosen & moves.system.isin(systems)]

    def migrations(self, testbed: str) -> pandas.DataFrame:
        """Each migration with the path of the selection that ordered it."""
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
