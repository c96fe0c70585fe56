"""The rows of both models as claims ask for them: by system and point, a value for each seed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import pandas

from testbed.reproduction.claim import Undecided
from testbed.reproduction.interval import mean_interval, paired_difference

BySeed = dict[int, float]
VALUES: dict[str, Callable[[pandas.DataFrame], pandas.Series]] = {
    "delay": lambda r: r.delay / r.deliveries,
    "model_delay": lambda r: r.model_delay / r.arrivals,
    "overhead": lambda r: (r.to_root + r.in_tree) / r.events,
    "tree_overhead": lambda r: r.in_tree / r.events,
    "relays": lambda r: r.relays / r.events,
    "management": lambda r: r.telling + r.tree_messages,
    "tree_messages": lambda r: r.tree_messages,
    "changes": lambda r: r.changes,
    "handovers": lambda r: r.handovers,
    "reconfiguration": lambda r: r.reconfiguration,
    "moved": lambda r: r.moved,
    "load_deviation": lambda r: r.load_deviation,
}
PLACED = (
    "management",
    "changes",
    "handovers",
    "load_deviation",
)  # the same on every overlay with a placement


def with_values(rows: pandas.DataFrame) -> pandas.DataFrame:
    """Columns `v_<name>` beside the sums."""
    return rows.assign(**{f"v_{name}": value(rows) for name, value in VALUES.items()})


@dataclass(frozen=True)
class Data:
    """Of one model or both; a model without rows is an empty frame."""

    poisson: pandas.DataFrame
    location: pandas.DataFrame

    def rated(self, system: str, value: str, rate: float, pattern: str = "modes", period: int = 10) -> BySeed:
        """On the Poisson model."""
        rows = self.poisson
        if rows.empty:
            raise Undecided("the Poisson model")
        rows = rows[(rows.system == system) & (rows.rate == rate) & (rows.pattern == pattern)]
        return _values(rows[rows.period == period], value, f"{system}, {pattern}, rate {rate}, {period} h")

    def placed(
        self, system: str, value: str, cluster: int = 10, load: float = 0.5, period: int = 168
    ) -> BySeed:
        """On the location model."""
        rows = self.location
        if rows.empty:
            raise Undecided("the location model")
        rows = rows[(rows.system == system) & (rows.cluster == cluster) & (rows.load == load)]
        return _values(
            rows[rows.period == period], value, f"{system}, c = {cluster}, w_l = {load}, {period} h"
        )

    def known(self, model: str, column: str, system: str) -> list[float]:
        """Values of a label for which there are rows of a system, rising."""
        rows = getattr(self, model)
        return sorted(rows[rows.system == system][column].unique()) if len(rows) else []


def _values(rows: pandas.DataFrame, value: str, what: str) -> BySeed:
    if rows.empty:
        raise Undecided(what)
    return {int(s): float(v) for s, v in zip(rows.seed, rows[f"v_{value}"], strict=True)}


def mean(values: Mapping[int, float]) -> float:
    return sum(values.values()) / len(values)


def reduction(ours: BySeed, theirs: BySeed) -> float:
    """In percent of theirs, seed by seed, over the seeds that both have."""
    common = sorted(ours.keys() & theirs.keys())
    if not common:
        raise Undecided("no seed that both have")
    return sum(100 * (1 - ours[seed] / theirs[seed]) for seed in common) / len(common)


def told(ours: BySeed, theirs: BySeed) -> str:
    """-12.3 % (-13.0 to -11.6): the change, with its interval where there are seeds for one."""
    common = sorted(ours.keys() & theirs.keys())
    found = mean_interval([100 * (ours[seed] / theirs[seed] - 1) for seed in common])
    return f"{found.mean:+.1f} %" + (f" ({found.low:+.1f} to {found.high:+.1f})" if found.n > 1 else "")


def is_below(ours: BySeed, theirs: BySeed) -> bool:
    """By the mean of the paired differences."""
    return paired_difference(ours, theirs).mean < 0
