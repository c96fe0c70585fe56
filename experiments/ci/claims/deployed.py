"""What brokers that run must do: the guarantee of the exchange, and section 5.1 with measured costs."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import pandas

from experiments.ci.readings import OF_DEPLOYED
from experiments.ci.systems import ADAPTIVE, CI, NAMES, STATIC
from testbed.reproduction.checks import at_most, order
from testbed.reproduction.claim import Claim, Finding

AFTER = 0.4  # of the time between two changes: by then the costs have fallen again


@dataclass(frozen=True)
class Deployed:
    costs: pandas.DataFrame  # by system, sample and purpose
    runs: pandas.DataFrame
    changes: tuple[int, int]  # samples in which t1 and t2 are

    @cached_property
    def samples(self) -> pandas.DataFrame:
        """Cost by sample and system; the last sample is not whole."""
        found = self.costs.groupby(["sample", "system"]).cost.sum().unstack()
        return found.iloc[: 3 * self.changes[0]]

    @property
    def totals(self) -> pandas.Series:
        return self.samples.sum()


def none_of(column: str, data: Deployed) -> Finding:
    told = ", ".join(f"{NAMES[row.system]} {getattr(row, column)}" for row in data.runs.itertuples())
    return at_most(data.runs[column].to_list(), 0).said(told)


def below_static(data: Deployed) -> Finding:
    table = data.totals[[*ADAPTIVE, STATIC]].to_frame().T
    found = [order(table[[system, STATIC]], strict=True) for system in ADAPTIVE]
    return Finding(all(one.holds for one in found), _told(data))


def ci_lowest(data: Deployed) -> Finding:
    rivals = [system for system in ADAPTIVE if system != CI]
    table = pandas.DataFrame({"CI": [data.totals[CI]], "best of the others": [data.totals[rivals].min()]})
    return order(table).said(_told(data))


def recovers(data: Deployed, which: int) -> Finding:
    """CI costs less in the samples after a while than in the first ones after the change."""
    at = data.changes[which]
    wait = max(1, round(AFTER * data.changes[0]))
    first, later = data.samples[CI].iloc[at : at + 2].mean(), data.samples[CI].iloc[at + wait :][:2].mean()
    table = pandas.DataFrame({"later": [later], "first": [first]})
    return order(table, strict=True).said(f"{later / first - 1:+.1%} after {wait} samples")


def _told(data: Deployed) -> str:
    static = data.totals[STATIC]
    return ", ".join(f"{NAMES[s]} {data.totals[s] / static - 1:+.1%}" for s in ADAPTIVE) + " of static"


GUARANTEE = "docs/self-organising.md, the guarantee"
CLAIMS: list[Claim[Deployed]] = [
    Claim("D1", "emulated", "no notification is lost", "4", "avoiding notification losses",
          lambda d: none_of("lost", d)),
    Claim("D2", "emulated", "no notification is doubled", GUARANTEE, "exactly once",
          lambda d: none_of("twice", d)),
    Claim("D3", "emulated", "those of a publisher stay in order", "4", "maintaining message ordering",
          lambda d: none_of("disorder", d)),
    Claim("D4", "emulated", "all brokers of a cycle agree how an exchange ended", GUARANTEE, "agree",
          lambda d: none_of("mixed", d)),
    Claim("D5", "emulated", "the heuristics cost less than the static network", "5.1", "less",
          below_static, OF_DEPLOYED),
    Claim("D6", "emulated", "CI costs least", "5.1", "performs better", ci_lowest, OF_DEPLOYED),
    Claim("D7", "emulated", "CI recovers after round trips have changed", "5.1", "after a short time",
          lambda d: recovers(d, 0), OF_DEPLOYED),
    Claim("D8", "emulated", "CI recovers after matching times have changed", "5.1", "after a short time",
          lambda d: recovers(d, 1), OF_DEPLOYED),
]  # fmt: skip
