"""One function per sentence."""

from __future__ import annotations

from experiments.ci.claims.data import Data
from experiments.ci.systems import ADAPTIVE, CI, MIT, MST, NAMES, STATIC
from testbed.reproduction.checks import at_most, below, least, order, shape
from testbed.reproduction.claim import Finding

QUICKLY = 5  # samples after the start, or after a change
FLAT = 0.10  # of the static costs: what still is "does not change"


def falls_quickly(data: Data, system: str) -> Finding:
    """The fifth sample costs less than the static tree's, paired."""
    at = QUICKLY * data.sample
    mine, static = (data.by_seed(s, at - data.sample, at) for s in (system, STATIC))
    return below(mine, static)


def jumps(data: Data, which: int) -> Finding:
    """Each heuristic's first sample after the change costs more than the last before it."""
    at = data.changes[which]
    table = data.costs.loc[[at, at + data.sample], list(ADAPTIVE)].T
    table.columns = ["before", "after"]
    return order(table, strict=True, axis="system").said(
        "; ".join(f"{NAMES[s]} {row.after / row.before - 1:+.1%}" for s, row in table.iterrows())
    )


def recovers(data: Data, which: int) -> Finding:
    """Five samples after the change each costs less than in the first sample after it."""
    at = data.changes[which]
    table = data.costs.loc[[at + QUICKLY * data.sample, at + data.sample], list(ADAPTIVE)].T
    table.columns = ["later", "first"]
    return order(table, strict=True, axis="system").said(
        "; ".join(f"{NAMES[s]} {row.later / row['first'] - 1:+.1%}" for s, row in table.iterrows())
    )


def saves(data: Data, system: str) -> Finding:
    found = below(data.by_seed(system), data.by_seed(STATIC))
    mine, static = (sum(data.by_seed(s).values()) for s in (system, STATIC))
    return found.said(f"{mine / static - 1:+.1%} of the static costs; {found.measured}")


def ci_lowest(data: Data) -> Finding:
    """At nine of ten samples after the start-up at least: "performs better than the other heuristics"."""
    table = data.costs.loc[data.costs.index > QUICKLY * data.sample, [CI, MIT, MST]]
    below_ = (table[[MIT, MST]].min(axis=1) > table[CI]).mean()
    return least(table, 0.9, "tick").said(f"lowest at {below_:.0%} of the samples")


def narrow(data: Data) -> Finding:
    return at_most([data.half_width], 0.06).said(f"{data.half_width:.1%}")


def best_eta(data: Data) -> Finding:
    totals = data.by_eta.total
    best = int(totals.idxmin())
    told = ", ".join(f"{eta}: {cost / 1e6:.1f}" for eta, cost in totals.items())
    return Finding(best == 4, f"least at eta = {best} (million: {told})")


def shrinks(data: Data) -> Finding:
    return shape(data.by_eta.total[data.by_eta.index >= 4].to_list(), "rises")


def broadcasts_grow(data: Data) -> Finding:
    return shape(data.by_eta.interest.to_list(), "rises", strict=True)


def cheap_exchanges(data: Data) -> Finding:
    table = data.by_eta
    both = (table.request + table.exchange) / table.total
    alone = table.exchange / table.total
    told = ", ".join(f"{eta}: {both[eta]:.1%} ({alone[eta]:.1%})" for eta in table.index)
    return at_most(both.to_list(), 0.03).said(f"by eta, exchanges alone in brackets: {told}")


def mst_falls(data: Data) -> Finding:
    return shape(data.improvements[MST].to_list(), "falls").said(_told(data, MST))


def mit_flat(data: Data) -> Finding:
    saved = data.improvements[MIT]
    return at_most([float(saved.max() - saved.min())], FLAT).said(_told(data, MIT))


def ci_best(data: Data) -> Finding:
    table = -data.improvements[[CI, MIT, MST]]
    worse = [f"alpha {a}" for a, row in table.iterrows() if row[CI] > row.drop(CI).min()]
    lowest = order(-table.assign(best=table[[MIT, MST]].min(axis=1))[["best", CI]], axis="alpha")
    return lowest.said(f"not at {', '.join(worse)}" if worse else f"at every alpha: {_told(data, CI)}")


def _told(data: Data, system: str) -> str:
    return "saved: " + ", ".join(f"{value:.0%}" for value in data.improvements[system])
