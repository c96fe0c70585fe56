"""The tables as claims ask for them: curves averaged over seeds, ends by seed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pandas

from experiments.tamara.systems import SCRIBE, TAMARA
from testbed.reproduction.claim import Undecided

BY = ["scenario", "model"]


@dataclass(frozen=True)
class Data:
    curves: pandas.DataFrame
    ends: pandas.DataFrame
    full: bool
    missing: Sequence[tuple[str, str]]  # scenario and model of points that are not there

    def curve(self, scenario: str, model: str, system: str = TAMARA) -> pandas.DataFrame:
        """Of one system, by time, averaged over seeds. Columns: scribe, tamara (its OC), plus (OC and
        overhead), overhead, users."""
        if (scenario, model) in self.missing:
            raise Undecided(f"{scenario}, {model}")
        rows = self.curves
        rows = rows[(rows.scenario == scenario) & (rows.model == model) & (rows.system == system)]
        cost = rows.maintenance + rows.dissemination
        shown = pandas.DataFrame(
            {
                "at": rows["at"], "scribe": rows.plain_maintenance + rows.plain_dissemination, "tamara": cost,
                "plus": cost + rows.overhead, "overhead": rows.overhead, "users": rows.users,
            }
        )  # fmt: skip
        return shown[shown.users > 0].groupby("at").mean()  # nobody is there: nothing to compare

    def at_end(self, scenario: str, model: str, system: str, column: str = "cost") -> dict[int, float]:
        """seed -> value."""
        if (scenario, model) in self.missing:
            raise Undecided(f"{scenario}, {model}")
        rows = self.ends[(self.ends.scenario == scenario) & (self.ends.model == model)]
        rows = rows[rows.system == system].set_index("seed")
        values = rows.maintenance + rows.dissemination if column == "cost" else rows[column]
        return {int(seed): float(value) for seed, value in values.items()}

    def change(self, scenario: str, model: str, system: str, column: str = "cost") -> dict[int, float]:
        """Against Scribe, in percent: seed -> value. Negative is better."""
        ours = self.at_end(scenario, model, system, column)
        plain = self.at_end(scenario, model, SCRIBE, column)
        return {seed: 100 * (ours[seed] / plain[seed] - 1) for seed in ours}

    def mean_change(self, scenario: str, model: str, system: str, column: str = "cost") -> float:
        values = self.change(scenario, model, system, column)
        return sum(values.values()) / len(values) if values else float("nan")
