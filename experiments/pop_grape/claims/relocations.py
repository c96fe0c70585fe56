"""Checks of selections and migrations: figures 6a to 6c, and that nothing is lost."""

from __future__ import annotations

import pandas

from experiments.pop_grape.claims.curves import QUARTER
from experiments.pop_grape.claims.data import Data
from experiments.pop_grape.systems import DELAY1, DELAY100, LOAD100, POP
from testbed.reproduction.checks import at_most, factor, near
from testbed.reproduction.claim import Finding

PLANETLAB = "planetlab"
STRONG = 0.8  # correlation over path lengths


def grape_selections(data: Data) -> pandas.DataFrame:
    """Those of delay1, as in figure 6b; of delay100 where delay1 was not run."""
    found = data.selections(PLANETLAB, DELAY1)
    return found if len(found) else data.selections(PLANETLAB, DELAY100)


def by_path(moves: pandas.DataFrame) -> pandas.Series:
    moved = moves[moves.path > 0]
    return moved.groupby("path").duration_s.mean()


def correlation(means: pandas.Series) -> float:
    return float(means.corr(pandas.Series(means.index, index=means.index)))


def same_placement_at_one(data: Data) -> Finding:
    """X = 1: POP and GRAPE move each publisher to the one broker with all its subscribers."""
    hops = {s: data.at(PLANETLAB, "clustered", s, 1, "hops") for s in (POP, LOAD100, DELAY100)}
    if any(h is None for h in hops.values()):
        return Finding(None, "", "X = 1 was not run")
    text = ", ".join(f"{s}: {h:.3f} hops" for s, h in hops.items())
    return Finding(all(h is not None and h < 0.01 for h in hops.values()), text, "0 hops: at their broker")


def lossless(data: Data) -> Finding:
    data.need()
    missing, twice = int(data.runs.missing.sum()), int(data.runs.duplicates.sum())
    moved = int((data.moves.event == "migrated").sum()) if len(data.moves) else 0
    got = int(data.runs.deliveries.sum())
    text = f"{missing} missing and {twice} duplicate of {got:,} deliveries"
    text += f" in {len(data.runs)} runs with {moved} migrations"
    return Finding(missing == 0 and twice == 0 if moved else None, text)


def wait_grows_with_path(data: Data) -> Finding:
    paths = data.migrations(PLANETLAB)
    if not len(paths) or paths.path.nunique() < 3:
        return Finding(None, "", "too few different path lengths")
    found = correlation(by_path(paths))
    return Finding(found > STRONG, f"correlation of mean wait and path length {found:.2f}", f"> {STRONG}")


def wait_at_most_5s(data: Data) -> Finding:
    paths = data.migrations(PLANETLAB)
    if not len(paths):
        return Finding(None, "", "no migrations on PlanetLab")
    means = by_path(paths)
    text = f"longest mean wait {means.max():.2f} s; paths of up to {int(means.index.max())} hops"
    return at_most(list(means), 5.0).said(text)


def pop_selection_grows(data: Data) -> Finding:
    found = data.selections(PLANETLAB, POP)
    if not len(found) or found[found.path > 0].path.nunique() < 3:
        return Finding(None, "", "too few different path lengths")
    value = correlation(by_path(found))
    return Finding(value > STRONG, f"correlation of mean time and path length {value:.2f}", f"> {STRONG}")


def grape_selection_flat(data: Data) -> Finding:
    """What a hop adds, against what a selection takes: at most 5 % per hop."""
    found = grape_selections(data)
    found = found[found.path > 0] if len(found) else found
    if not len(found) or found.path.nunique() < 3:
        return Finding(None, "", "too few different path lengths")
    means = by_path(found)
    index = pandas.Series(means.index, index=means.index, dtype=float)
    slope = float(means.cov(index) / index.var())
    share = slope / float(means.mean())
    return near(share, 0.0, 0.05).said(f"{100 * share:+.1f} % of the mean per hop", "within 5 % per hop")


def grape_pings_dominate(data: Data) -> Finding:
    found = grape_selections(data)
    found = found[found.ping_s > 0] if len(found) else found
    if not len(found):
        return Finding(None, "", "no selection that asked for pings")
    share = float(found.ping_s.sum() / found.duration_s.sum())
    return Finding(share > 0.5, f"pings take {100 * share:.0f} % of the selection", "more than half")


def grape_without_ping_above_pop(data: Data) -> Finding:
    grape, pop = grape_selections(data), data.selections(PLANETLAB, POP)
    if not len(grape) or not len(pop):
        return Finding(None, "", "no selections of both")
    ours, theirs = float((grape.duration_s - grape.ping_s).mean()), float(pop.duration_s.mean())
    return Finding(ours > theirs, f"GRAPE {ours:.2f} s, POP {theirs:.2f} s")


def selection_longer_in_grape(data: Data) -> Finding:
    """The largest ratio of the means at one X."""
    grape, pop = grape_selections(data), data.selections(PLANETLAB, POP)
    if not len(grape) or not len(pop):
        return Finding(None, "", "no selections of both")
    ratio = grape.groupby("spread").duration_s.mean() / pop.groupby("spread").duration_s.mean()
    ratio = ratio[ratio.notna()]
    if not len(ratio):
        return Finding(None, "", "no X with selections of both")
    most = float(ratio.max())
    text = f"up to {most:.1f} times as long, at X = {int(ratio.idxmax())}"
    return factor(most, 17, 1 + QUARTER).said(text, "a quarter more or less")


def grape_selects_longer(data: Data) -> Finding:
    """At every X, as a mean."""
    grape, pop = grape_selections(data), data.selections(PLANETLAB, POP)
    if not len(grape) or not len(pop):
        return Finding(None, "", "no selections of both")
    ratio = (grape.groupby("spread").duration_s.mean() / pop.groupby("spread").duration_s.mean()).dropna()
    text = ", ".join(f"{r:.1f} times at X = {x}" for x, r in ratio.items())
    return Finding(bool((ratio > 1).all()) if len(ratio) else None, text)


def selection_without_ping(data: Data) -> Finding:
    found = grape_selections(data)
    if not len(found):
        return Finding(None, "", "no selections of GRAPE with pings on PlanetLab")
    worst = float((found.duration_s - found.ping_s).max())
    return at_most([worst], 5.0).said(f"at most {worst:.2f} s without pings")


def overloads(data: Data) -> Finding:
    """5.2: 1 to 3 internal brokers in all systems but load100; at the end, when publishers have moved."""
    found = {}
    for system in ("baseline", POP, DELAY100, LOAD100):
        curve = data.curve(PLANETLAB, "random", system, "overloaded_at_end")
        if curve.empty:
            return Finding(None, "", "planetlab, random workload was not run, or not measured at its end")
        found[system] = float(curve.max())
    text = ", ".join(f"{s}: {n:.0f}" for s, n in found.items())
    if not any(found.values()):
        busiest = data.runs[data.runs.testbed == PLANETLAB].busiest_at_end.max()
        return Finding(None, text, f"our settings overload no broker (busiest: {100 * busiest:.0f} %)")
    return Finding(found[LOAD100] == 0 and all(1 <= found[s] <= 3 for s in found if s != LOAD100), text)
