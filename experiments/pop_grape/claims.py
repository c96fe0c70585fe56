"""G1 to G22 and the shapes of figures 5 and 6, as checks over the table of runs.

Headline percentages are maxima over X: the report says "up to" in its later version, and shares -85 %
between POP and GRAPE although POP's rate is above GRAPE's for most X. Percentages of a testbed whose
settings are lost are checked as directions and orders; where a number is checked, its tolerance is in
the verdict.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable

import pandas

from experiments.pop_grape.data import Data
from experiments.pop_grape.systems import (
    BASELINE,
    DELAY100,
    GRAPE_THRESHOLDS,
    LOAD100,
    POP,
    POP_THRESHOLDS,
    grape_threshold,
    pop_threshold,
)
from testbed.figures.verdict import Claim, Finding

NEARLY = 0.03  # relative: closer than that is equal
THRESHOLD_X = 16  # 5.2: subscribers on 16 brokers
LOAD_THRESHOLDS = {n: grape_threshold("load", n) for n in GRAPE_THRESHOLDS}
P_THRESHOLDS = {n: pop_threshold(n) for n in POP_THRESHOLDS}


def reduction(testbed: str, value: str, system: str, stated: float) -> Callable[[Data], Finding]:
    """The largest relative reduction over X, within 15 points of the stated one."""

    def check(data: Data) -> Finding:
        base = data.curve(testbed, "clustered", BASELINE, value)
        ours = data.curve(testbed, "clustered", system, value)
        if base.empty or ours.empty:
            return Finding(None, "", f"{testbed} was not run")
        best = float((1 - ours / base).max())
        text = f"{100 * best:.0f} % at X = {int((1 - ours / base).idxmax())}"
        return Finding(abs(best - stated) <= 0.15, text, "within 15 points")

    return check


def ordered(testbed: str, workload: str, value: str, *systems: str) -> Callable[[Data], Finding]:
    """For X > 1, each system's value is at most the next one's (3 % slack)."""

    def check(data: Data) -> Finding:
        curves = [data.curve(testbed, workload, s, value) for s in systems]
        if any(c.empty for c in curves):
            return Finding(None, "", f"{testbed}, {workload} was not run")
        bad = []
        for x in curves[0].index:
            if x > 1:
                values = [float(c[x]) for c in curves]
                if any(a > b * (1 + NEARLY) for a, b in itertools.pairwise(values)):
                    bad.append(
                        f"X={x}: " + ", ".join(f"{s} {v:.3g}" for s, v in zip(systems, values, strict=True))
                    )
        return Finding(not bad, "; ".join(bad) or "holds for every X > 1", "3 % slack")

    return check


def similar(
    testbed: str, workload: str, value: str, a: str, b: str, slack: float
) -> Callable[[Data], Finding]:
    def check(data: Data) -> Finding:
        one, two = data.curve(testbed, workload, a, value), data.curve(testbed, workload, b, value)
        if one.empty or two.empty:
            return Finding(None, "", f"{testbed}, {workload} was not run")
        worst = float((one / two - 1).abs().max())
        return Finding(worst <= slack, f"differ by up to {100 * worst:.0f} %", f"{100 * slack:.0f} % allowed")

    return check


def same_placement_at_one(data: Data) -> Finding:
    """X = 1: POP and GRAPE move each publisher to the one broker with all its subscribers."""
    hops = {s: data.curve("planetlab", "clustered", s, "hops") for s in (POP, LOAD100, DELAY100)}
    if any(c.empty or 1 not in c.index for c in hops.values()):
        return Finding(None, "", "X = 1 was not run")
    text = ", ".join(f"{s}: {float(c[1]):.3f} hops" for s, c in hops.items())
    return Finding(
        all(float(c[1]) < 0.01 for c in hops.values()), text, "0 hops = at the subscribers' broker"
    )


def overhead_at_most(
    testbed: str, workload: str, systems: list[str], stated: float
) -> Callable[[Data], Finding]:
    def check(data: Data) -> Finding:
        curves = [data.curve(testbed, workload, s, "overhead") for s in systems]
        if any(c.empty for c in curves):
            return Finding(None, "", f"{testbed}, {workload} was not run")
        worst = max(float(c.max()) for c in curves)
        return Finding(worst <= stated * 1.25, f"{100 * worst:.1f} %", "a quarter more allowed")

    return check


def lossless(data: Data) -> Finding:
    missing, twice = int(data.runs.missing.sum()), int(data.runs.duplicates.sum())
    moved = int((data.moves.event == "migrated").sum()) if len(data.moves) else 0
    text = (
        f"{missing} missing and {twice} duplicate deliveries in {len(data.runs)} runs with {moved} migrations"
    )
    return Finding(missing == 0 and twice == 0, text)


def wait_grows_with_path(data: Data) -> Finding:
    paths = data.migrations("planetlab")
    if not len(paths) or paths.path.nunique() < 3:
        return Finding(None, "", "too few different path lengths")
    mean = paths.groupby("path").duration_s.mean()
    slope = float(mean.corr(pandas.Series(mean.index, index=mean.index)))
    return Finding(slope > 0.8, f"correlation of wait and path length {slope:.2f}", "> 0.8")


def wait_at_most_5s(data: Data) -> Finding:
    paths = data.migrations("planetlab")
    if not len(paths):
        return Finding(None, "", "no migrations on PlanetLab")
    worst = paths.groupby("path").duration_s.mean().max()
    return Finding(
        bool(worst <= 5.0), f"longest mean wait {worst:.2f} s, path of {int(paths.path.max())} hops"
    )


def selection_longer_in_grape(data: Data) -> Finding:
    moves = data.moves
    chosen = moves[
        (moves.event == "selected") & (moves.testbed == "planetlab") & (moves.workload == "clustered")
    ]
    mean = chosen.groupby("system").duration_s.mean()
    if POP not in mean or DELAY100 not in mean:
        return Finding(None, "", "no selections of both")
    factor = float(mean[DELAY100] / mean[POP]) if mean[POP] else float("inf")
    return Finding(factor > 1, f"delay100 takes {factor:.1f} times as long as POP")


def selection_without_ping(data: Data) -> Finding:
    moves = data.moves
    chosen = moves[(moves.event == "selected") & (moves.testbed == "planetlab") & (moves.system == DELAY100)]
    if not len(chosen):
        return Finding(None, "", "no selections of delay100 on PlanetLab")
    worst = float((chosen.duration_s - chosen.ping_s).max())
    return Finding(worst <= 5.0, f"at most {worst:.2f} s without pings")


def pop_rate_above_grape(data: Data) -> Finding:
    pop = data.curve("cluster", "random", POP, "message_rate")
    grape = data.curve("cluster", "random", LOAD100, "message_rate")
    if pop.empty or grape.empty:
        return Finding(None, "", "cluster, random was not run")
    more = float((pop / grape - 1).mean())
    return Finding(0.25 <= more <= 0.75, f"{100 * more:+.0f} %", "between +25 and +75 %")


def threshold_trend(labels: dict[int, str], value: str, rises: bool) -> Callable[[Data], Finding]:
    """Over the thresholds, in the runs with X = 16 on the cluster."""

    def check(data: Data) -> Finding:
        found = {n: data.curve("cluster", "clustered", label, value) for n, label in labels.items()}
        by = {n: float(c[THRESHOLD_X]) for n, c in found.items() if THRESHOLD_X in c.index}
        if len(by) < len(labels):
            return Finding(None, "", "the threshold runs were not made")
        steps = list(itertools.pairwise(by.values()))
        holds = all(b >= a for a, b in steps) if rises else all(b <= a for a, b in steps)
        return Finding(holds, ", ".join(f"{n}: {v:.3g}" for n, v in by.items()))

    return check


CLAIMS: list[Claim[Data]] = [
    Claim("G1", "5b", "POP: input utilisation", "1", "-64 %",
          reduction("planetlab", "input_utilisation", POP, 0.64)),
    Claim("G2", "5a", "POP: message rate", "1", "-85 %", reduction("planetlab", "message_rate", POP, 0.85)),
    Claim("G3", "5c", "POP: delivery delay", "1", "-63 %", reduction("planetlab", "delay_ms", POP, 0.63)),
    Claim("G4", "5b", "load100: input utilisation", "1, 6", "-68 %",
          reduction("planetlab", "input_utilisation", LOAD100, 0.68)),
    Claim("G5", "5a", "load100: message rate", "1, 6", "-84 to -85 %",
          reduction("planetlab", "message_rate", LOAD100, 0.85)),
    Claim("G6", "5c", "delay100: delivery delay", "6", "-68 %",
          reduction("planetlab", "delay_ms", DELAY100, 0.68)),
    Claim("F5a", "5a", "load100 has the lowest message rate", "5.2", "L100 < others for X > 1",
          ordered("planetlab", "clustered", "message_rate", LOAD100, DELAY100, BASELINE)),
    Claim("F5a1", "5a", "all choose the same broker at X = 1", "5.2", "equal placement",
          same_placement_at_one),
    Claim("F5b", "5b", "input utilisation: POP between", "5.2", "L100 <= POP <= D100",
          ordered("planetlab", "clustered", "input_utilisation", LOAD100, POP, DELAY100)),
    Claim("F5c", "5c", "delivery delay: POP between", "5.2", "D100 <= POP <= L100",
          ordered("planetlab", "clustered", "delay_ms", DELAY100, POP, LOAD100)),
    Claim("F5d", "5d", "hop count: POP between", "5.2", "D100 <= POP <= L100",
          ordered("cluster", "clustered", "hops", DELAY100, POP, LOAD100)),
    Claim("F5x", "text", "load100's delay above the baseline's", "5.2", "cluster, clustered",
          ordered("cluster", "clustered", "delay_ms", BASELINE, LOAD100)),
    Claim("F5f", "5f", "GRAPE's overhead below POP's", "5.2", "for all X",
          ordered("cluster", "clustered", "overhead", LOAD100, POP)),
    Claim("G12a", "5f", "POP's largest overhead", "5.2", "32 %",
          overhead_at_most("cluster", "clustered", [POP], 0.32)),
    Claim("G12b", "5f", "GRAPE's largest overhead", "5.2", "16 %",
          overhead_at_most("cluster", "clustered", [LOAD100, DELAY100], 0.16)),
    Claim("G13", "5f", "GRAPE's overhead, random workload", "5.2", "<= 5 %",
          overhead_at_most("cluster", "random", [LOAD100, DELAY100], 0.05)),
    Claim("G14", "app.", "POP's message rate, random workload", "5.2", "+50 %", pop_rate_above_grape),
    Claim("F5g", "5g", "load100 and delay100 alike, random workload", "5.2", "no visible difference",
          similar("cluster", "random", "delay_ms", LOAD100, DELAY100, 0.1)),
    Claim("F5g2", "5g", "POP has the lowest delay, random workload", "5.2", "POP < D100",
          ordered("cluster", "random", "delay_ms", POP, DELAY100)),
    Claim("G16", "6b", "GRAPE's selection without pings", "5.2", "<= 5 s", selection_without_ping),
    Claim("G17", "6a, 6b", "GRAPE selects longer than POP", "6", "up to 17 times", selection_longer_in_grape),
    Claim("G18", "6c", "wait of a migrating publisher", "3.3", "<= 5 s for 10 hops", wait_at_most_5s),
    Claim("F6c", "6c", "wait grows with the path", "5.2", "proportional", wait_grows_with_path),
    Claim("F6g", "6g", "GRAPE: a larger threshold costs less", "5.2", "overhead falls",
          threshold_trend(LOAD_THRESHOLDS, "overhead", False)),
    Claim("F6h", "6h", "POP: a larger threshold costs more", "5.2", "overhead rises",
          threshold_trend(P_THRESHOLDS, "overhead", True)),
    Claim("G22", "text", "no message is lost by a migration", "1, 3.3", "0", lossless),
]  # fmt: skip
