"""Flow against one network simulated message by message. Bounds are ours, and were stated before the run."""

from __future__ import annotations

from dataclasses import dataclass

import pandas

from testbed.reproduction.checks import at_most, near
from testbed.reproduction.claim import Claim, Finding

TOTAL, PER_SAMPLE, PER_PURPOSE, EXCHANGES = 0.05, 0.10, 0.15, 0.10


@dataclass(frozen=True)
class Compared:
    costs: pandas.DataFrame  # by `by` (flow, simulator), sample and purpose
    exchanged: pandas.DataFrame

    def sums(self, by: str) -> pandas.DataFrame:
        """Rows of both that have the same `by` (sample, purpose)."""
        return self.costs.groupby([by, "by"]).cost.sum().unstack().dropna()


def total(data: Compared) -> Finding:
    both = data.costs.groupby("by").cost.sum()
    return near(both.simulator, both.flow, TOTAL * both.flow).said(f"{both.simulator / both.flow - 1:+.2%}")


def each(data: Compared, by: str, bound: float) -> Finding:
    both = data.sums(by)
    apart = both.simulator / both.flow - 1
    worst = apart.abs().idxmax()
    return at_most(apart.abs().to_list(), bound).said(f"at most {apart[worst]:+.1%} ({by} {worst})")


def exchanges(data: Compared) -> Finding:
    both = data.exchanged.set_index("by").exchanges
    found = near(both.simulator, both.flow, EXCHANGES * both.flow)
    return found.said(f"{both.simulator} simulated, {both.flow} by flow")


CLAIMS: list[Claim[Compared]] = [
    Claim("F1", "simulated", "flow's costs are those of messages that take time", "5", f"within {TOTAL:.0%}",
          total),
    Claim("F2", "simulated", "so are those of each sample", "5", f"within {PER_SAMPLE:.0%}",
          lambda d: each(d, "sample", PER_SAMPLE)),
    Claim("F3", "simulated", "so are those of each purpose", "5", f"within {PER_PURPOSE:.0%}",
          lambda d: each(d, "purpose", PER_PURPOSE)),
    Claim("F4", "simulated", "as many links are exchanged", "5", f"within {EXCHANGES:.0%}", exchanges),
]  # fmt: skip
