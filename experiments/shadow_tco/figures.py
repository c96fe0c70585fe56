"""Figures 2 to 8 of section VI, from the tables."""

from __future__ import annotations

from collections.abc import Iterator

import pandas

from experiments.shadow_tco.systems import NAMES
from testbed.reproduction.figures.plot import Figure, Series, Stated


def all_figures(rounds: pandas.DataFrame, degrees: pandas.DataFrame, provenance: str) -> Iterator[Figure]:
    for number, system, how in (("2", "shadow-greedy", "greedily"), ("3", "shadow-pd-3", "by primal-dual")):
        yield backups(number, degrees[degrees.system == system], how, provenance)
    pair = ["shadow-greedy", "shadow-pd-3"]
    ends = rounds["round"].max()
    yield evolution("4", "Backups greedy or primal-dual", rounds, pair, provenance, [Stated("84", 84, ends)])
    lambdas = [f"shadow-pd-{c}" for c in (1, 2, 3, 4)]
    stated = [Stated("31", 31, ends), Stated("25", 25, ends), Stated("24", 24, ends)]
    yield evolution("5", "Coverage factor", rounds, lambdas, provenance, stated, averages=False)
    three = ["low-oda", "naive", "shadow-pd-3"]
    yield evolution("6", "Overlay under churn", rounds, three, provenance, [Stated("22", 22, ends)])
    yield running_time(rounds, provenance)
    yield repair(rounds, provenance)


def backups(number: str, frame: pandas.DataFrame, how: str, provenance: str) -> Figure:
    series = [
        Series(label, frame.subscription_size.to_list(), frame[column].to_list(), style="points")
        for label, column in (("backup degree", "backups"), ("primary degree", "primaries"))
    ]
    title = f"Fig. {number}: backups built {how}"
    return Figure(f"fig{number}", title, "subscription size", "degree", series, provenance=provenance)


def evolution(
    number: str,
    title: str,
    rounds: pandas.DataFrame,
    systems: list[str],
    provenance: str,
    stated: list[Stated],
    averages: bool = True,
) -> Figure:
    series = []
    for system in systems:
        frame = rounds[rounds.system == system].sort_values("round")
        x = frame["round"].to_list()
        series.append(Series(f"{NAMES[system]}: maximum", x, frame.max_degree.to_list(), style="steps"))
        if averages:
            label = f"{NAMES[system]}: average"
            series.append(Series(label, x, frame.average_degree.to_list(), style="steps"))
    return Figure(
        f"fig{number}",
        f"Fig. {number}: {title}",
        "churn round",
        "node degree",
        series,
        stated,
        provenance,
    )


def running_time(rounds: pandas.DataFrame, provenance: str) -> Figure:
    scratch = rounds[(rounds.system == "low-oda") & (rounds["round"] > 0)].seconds.mean()
    sizes = rounds[rounds.system == "shadow-pd-3"].set_index("round").shadow_size
    series = []
    for system in ("shadow-pd-3", "naive"):
        for kind in ("join", "leave"):
            frame = rounds[(rounds.system == system) & (rounds.kind == kind)]
            x = sizes.loc[frame["round"]].to_list()
            y = (100 * frame.seconds / scratch).to_list()
            series.append(Series(f"{NAMES[system].split(',')[0]}, {kind}", x, y, style="points"))
    stated = [
        Stated(f"{label} {y} %", y)
        for label, y in (
            ("Shadow join", 0.014),
            ("Naive join", 0.043),
            ("Shadow leave", 1.78),
            ("Naive leave", 14),
        )
    ]
    return Figure(
        "fig7",
        "Fig. 7: running time against LOW-ODA",
        "size of the shadow set",
        "running time (% of LOW-ODA)",
        series,
        stated,
        provenance,
        log_y=True,
    )


def repair(rounds: pandas.DataFrame, provenance: str) -> Figure:
    series = []
    for system in ("low-oda", "shadow-pd-3"):
        frame = rounds[
            (rounds.system == system) & rounds.edges_before.notna() & rounds.subscription_size.notna()
        ]
        ratio = 100 * (frame.edges_added + frame.edges_removed) / frame.edges_before
        label = NAMES[system].split(",")[0]
        series.append(Series(label, frame.subscription_size.to_list(), ratio.to_list(), style="points"))
    stated = [Stated("LOW-ODA 9.4 %", 9.4), Stated("join 0.068 %", 0.068), Stated("leave 0.17 %", 0.17)]
    return Figure(
        "fig8",
        "Fig. 8: links changed by one round",
        "subscription size of the churn node",
        "repair ratio (%)",
        series,
        stated,
        provenance,
        log_y=True,
    )
