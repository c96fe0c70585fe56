"""Figure 10 and table 1, from the tables."""

from __future__ import annotations

from collections.abc import Iterator

import pandas

from experiments.dynatops.claims.scaling import PAPER_SECONDS, Axis
from experiments.dynatops.measures import METRICS, along
from experiments.dynatops.points import Sizes
from experiments.dynatops.systems import PATTERN_LETTERS
from testbed.reproduction.figures.plot import Figure, Series, Stated
from testbed.reproduction.interval import intervals

AXES: dict[Axis, tuple[str, str]] = {
    "brokers": ("10a", "brokers |B|"), "topics": ("10b", "topics |P|"),
}  # fmt: skip


def scaling_figures(rows: pandas.DataFrame, sizes: Sizes, provenance: str) -> Iterator[Figure]:
    for axis in AXES:
        yield savings(rows, axis, sizes, provenance)
        yield seconds(rows, axis, sizes, provenance)


def savings(rows: pandas.DataFrame, axis: Axis, sizes: Sizes, provenance: str) -> Figure:
    number, label = AXES[axis]
    varied = along(rows, axis, sizes).assign(**{f"{m}_percent": 100 * rows[f"{m}_saving"] for m in METRICS})
    series = [
        over_seeds(f"{metric} ({letter})", varied[varied.pattern == pattern], axis, f"{metric}_percent")
        for metric in METRICS
        for pattern, letter in PATTERN_LETTERS.items()
    ]
    title = f"Fig. {number}: saving against consistent hashing"
    return Figure(
        f"fig{number}", title, label, "saving (%)", series, [Stated("none", 0)], provenance, log_x=True
    )


def seconds(rows: pandas.DataFrame, axis: Axis, sizes: Sizes, provenance: str) -> Figure:
    _, label = AXES[axis]
    series = [
        over_seeds(letter, along(rows, axis, sizes)[lambda one, p=pattern: one.pattern == p], axis, "seconds")
        for pattern, letter in PATTERN_LETTERS.items()
    ]
    stated = [Stated(f"{one:g} s", one, size) for (name, size), one in PAPER_SECONDS.items() if name == axis]
    title = f"Table 1: time of the greedy algorithm, {axis} varied"
    return Figure(
        f"figtable1-{axis}", title, label, "processor time (s)", series, stated, provenance, True, True
    )


def over_seeds(label: str, rows: pandas.DataFrame, axis: str, value: str) -> Series:
    seen = intervals(rows, axis, value)
    ends = [one.low for one in seen.values()], [one.high for one in seen.values()]
    return Series(label, list(seen), [one.mean for one in seen.values()], *ends)
