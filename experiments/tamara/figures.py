"""Figures 5 to 9, from the curves: means over seeds with 95 % intervals."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pandas

from experiments.tamara.claims.data import Data
from experiments.tamara.systems import NAMES, SC, SCRIBE, TAMARA
from experiments.tamara.workload import INTERVALS_A_DAY
from testbed.reproduction.figures.plot import Figure, Series, Stated
from testbed.reproduction.interval import intervals

Value = Callable[[pandas.DataFrame], pandas.Series]
COSTS: dict[str, tuple[str, Value]] = {  # line: rows of which system, and what of them
    SCRIBE: (TAMARA, lambda r: r.plain_maintenance + r.plain_dissemination),
    TAMARA: (TAMARA, lambda r: r.maintenance + r.dissemination),
    "tamara+": (TAMARA, lambda r: r.maintenance + r.dissemination + r.overhead),
    SC: (SC, lambda r: r.maintenance + r.dissemination),
}
FRESH = (SCRIBE, TAMARA, "tamara+")
SHIFTED = (SCRIBE, SC, TAMARA, "tamara+")
DRAWN = (  # figure, scenario, model, title, lines
    ("5a", "fresh", "infrequent", "Infrequent model", FRESH),
    ("5b", "fresh", "average", "Average model", FRESH),
    ("5c", "fresh", "frequent", "Frequent model", FRESH),
    ("6a", "two weeks", "average", "two weeks", FRESH),
    ("6b", "one day", "average", "one day", FRESH),
    ("7a", "uniform", "average", "uniform interests", FRESH),
    ("7b", "uniform shift", "average", "interests shift to uniform ones", SHIFTED),
    ("8a", "shift", "infrequent", "interests shift, Infrequent model", SHIFTED),
    ("8b", "shift", "average", "interests shift, Average model", SHIFTED),
    ("8c", "shift", "frequent", "interests shift, Frequent model", SHIFTED),
    ("9a", "packages", "M = 2 h", "packages, M = 2 hours", FRESH),
    ("9b", "packages", "M = 12 h", "packages, M = 12 hours", FRESH),
    ("9c", "packages", "M = 24 h", "packages, M = 24 hours", FRESH),
)
STATED = {  # thousands of messages per M at the end, from tables 2 and 3
    "5a": (84, 19), "5b": (91, 33), "5c": (112, 58),
    "8a": (84, 41, 18), "8b": (92, 65, 48), "8c": (113, 106, 69),
}  # fmt: skip
ORDER = {2: (SCRIBE, TAMARA), 3: (SCRIBE, SC, TAMARA)}


def all_figures(data: Data, provenance: str) -> Iterator[Figure]:
    for number, scenario, model, title, lines in DRAWN:
        rows = data.curves[(data.curves.scenario == scenario) & (data.curves.model == model)]
        if len(rows):
            yield figure(number, title, rows, lines, provenance, data.full)
            yield clusters(number, title, rows[rows.system == TAMARA], provenance)


def figure(
    number: str, title: str, rows: pandas.DataFrame, lines: tuple[str, ...], provenance: str, full: bool
) -> Figure:
    label, x = axis(number, rows)
    series = []
    for line in lines:
        system, value = COSTS[line]
        chosen = rows[rows.system == system]
        series.append(one_line(NAMES[line], chosen.assign(x=x[chosen.index], value=value(chosen))))
    end = float(x.max())
    numbers = STATED.get(number, ()) if full else ()
    stated = [
        Stated(f"{NAMES[s]} {y},000", 1000.0 * y, end)
        for s, y in zip(ORDER.get(len(numbers), ()), numbers, strict=True)
    ]
    name = f"Fig. {number}: {title}"
    return Figure(f"fig{number}", name, label, "messages per M", series, stated, provenance)


def clusters(number: str, title: str, rows: pandas.DataFrame, provenance: str) -> Figure:
    """What is behind the curve: clusters, their topics, and direct subscriptions in percent of interests."""
    label, x = axis(number, rows)
    shares = 100 * rows.direct / rows.plain_maintenance.where(rows.plain_maintenance > 0)
    values = {
        "clusters": rows.clusters,
        "mean topics of a cluster": rows.mean_topics,
        "direct subscriptions, %": shares,
    }
    series = [one_line(name, rows.assign(x=x, value=value)) for name, value in values.items()]
    return Figure(
        f"fig{number}-clusters", f"Clusters of fig. {number}: {title}", label, "", series, (), provenance
    )


def axis(number: str, rows: pandas.DataFrame) -> tuple[str, pandas.Series]:
    """Time in days, or for packages the share of the year that is over."""
    if number.startswith("9"):
        return "share of the year, %", 100 * rows["at"] / rows["at"].max()
    return "days", rows["at"] / INTERVALS_A_DAY


def one_line(label: str, rows: pandas.DataFrame) -> Series:
    seen = intervals(rows, "x", "value")
    values = seen.values()
    return Series(
        label,
        list(seen),
        [v.mean for v in values],
        [v.low for v in values],
        [v.high for v in values],
        "steps",
    )
