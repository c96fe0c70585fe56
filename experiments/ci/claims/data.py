"""Costs of the systems under one law of the static tree, as checks ask for them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import pandas

from experiments.ci.computations import PURPOSES
from testbed.reproduction.interval import mean_interval


@dataclass(frozen=True)
class Data:
    """Tables of one law: `samples` of figure 4, `etas` of 5, `alphas` of 6; empty where not computed."""

    samples: pandas.DataFrame
    etas: pandas.DataFrame
    alphas: pandas.DataFrame
    ticks: int  # of figure 4
    sample: int

    @cached_property
    def costs(self) -> pandas.DataFrame:
        """Mean cost by tick and system."""
        return with_totals(self.samples).groupby(["tick", "system"]).total.mean().unstack()

    @property
    def changes(self) -> tuple[int, int]:
        """t1 and t2."""
        return self.ticks // 3, 2 * self.ticks // 3

    def by_seed(self, system: str, after: int = 0, until: int | None = None) -> dict[int, float]:
        """Cost of the samples that lie in between, summed, of each network."""
        rows = with_totals(self.samples)
        rows = rows[(rows.system == system) & (rows.tick > after) & (rows.tick <= (until or self.ticks))]
        return {int(seed): float(total) for seed, total in rows.groupby("seed").total.sum().items()}

    @cached_property
    def half_width(self) -> float:
        """Of the 95 % intervals, relative to their means, on the average."""
        rows = with_totals(self.samples)
        found = [mean_interval(group.to_list()) for _, group in rows.groupby(["tick", "system"]).total]
        widths = [(one.high - one.low) / 2 / one.mean for one in found if one.n > 1]
        return sum(widths) / len(widths) if widths else float("nan")

    @cached_property
    def improvements(self) -> pandas.DataFrame:
        """Share of the static costs that is saved: rows alpha, columns systems, over the networks' means."""
        rows = with_totals(self.alphas)
        totals = rows.groupby(["alpha", "system"]).total.mean().unstack()
        return totals.rsub(totals.static, axis=0).div(totals.static, axis=0).drop(columns="static")

    @cached_property
    def by_eta(self) -> pandas.DataFrame:
        """CI's mean costs by eta and purpose, and their total."""
        rows = with_totals(self.etas)
        return rows[rows.system != "static"].groupby("eta")[[*PURPOSES, "total"]].mean()


def with_totals(rows: pandas.DataFrame) -> pandas.DataFrame:
    return rows.assign(total=rows[list(PURPOSES)].sum(axis=1))
