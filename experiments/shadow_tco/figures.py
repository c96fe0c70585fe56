"""Figures 2 to 8 of section VI, from the tables."""

from __future__ import annotations

from collections.abc import Iterator

import pandas

from experiments.shadow_tco.claims.rounds import Data, Seed, changed, from_scratch
from experiments.shadow_tco.systems import DUAL, GREEDY, LOW, NAIVE, NAMES
from testbed.reproduction.figures.plot import Figure, Series, Stated
from testbed.reproduction.interval import intervals


def all_figures(data: Data, provenance: str) -> Iterator[Figure]:
    """Degrees over the rounds are means over the seeds with their intervals; clouds of points are the first
    seed's."""
    first, rounds = data.seeds[0], data.rounds
    cloud = f"{provenance}; seed {int(first.rounds.seed.iloc[0])}"
    for number, system, how in (("2", GREEDY, "greedily"), ("3", DUAL, "by primal-dual")):
        yield backups(number, first.backups(system), how, cloud)
    ends = rounds["round"].max()
    yield evolution("4", "Backups greedy or primal-dual", rounds, [GREEDY, DUAL], provenance,
                    [Stated("84", 84, ends)])  # fmt: skip
    lambdas = [f"shadow-pd-{c}" for c in (1, 2, 3, 4)]
    stated = [Stated("31", 31, ends), Stated("25", 25, ends), Stated("24", 24, ends)]
    yield evolution("5", "Coverage factor", rounds, lambdas, provenance, stated, averages=False)
    yield evolution("6", "Overlay under churn", rounds, [LOW, NAIVE, DUAL], provenance,
                    [Stated("22", 22, ends)])  # fmt: skip
    yield running_time(first, cloud)
    yield repair(first, cloud)


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
        frame = rounds[rounds.system == system]
        series.append(over_seeds(f"{NAMES[system]}: maximum", frame, "max_degree"))
        if averages:
            series.append(over_seeds(f"{NAMES[system]}: average", frame, "average_degree"))
    title = f"Fig. {number}: {title}"
    return Figure(f"fig{number}", title, "churn round", "node degree", series, stated, provenance)


def over_seeds(label: str, frame: pandas.DataFrame, column: str) -> Series:
    """A band only where there are seeds enough for one."""
    found = intervals(frame, "round", column)
    x, y = list(found), [one.mean for one in found.values()]
    if max((one.n for one in found.values()), default=0) < 2:
        return Series(label, x, y, style="steps")
    low, high = [one.low for one in found.values()], [one.high for one in found.values()]
    return Series(label, x, y, low, high, style="steps")


def running_time(seed: Seed, provenance: str) -> Figure:
    scratch = from_scratch(seed)
    sizes = seed.system(DUAL).set_index("round").shadow_size
    series = []
    for system in (DUAL, NAIVE):
        for kind in ("join", "leave"):
            frame = seed.system(system, kind)
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
            ("Naive at worst", 61.6),
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


def repair(seed: Seed, provenance: str) -> Figure:
    series = []
    for system, frame in ((LOW, seed.scratch), (DUAL, seed.system(DUAL))):
        if len(frame):
            ratio = 100 * changed(frame) / frame.edges_before
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
