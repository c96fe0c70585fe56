"""Figure 5: what the check-ins are like. The model was made to have these numbers, so it confirms none."""

from __future__ import annotations

from collections.abc import Callable

import pandas

from experiments.dynatops.readings import MOBILITY
from testbed.reproduction.checks import near
from testbed.reproduction.claim import Claim, Finding

Check = Callable[[pandas.DataFrame], Finding]


def about(column: str, stated: float, share: float) -> Check:
    return lambda rows: near(float(rows[column].mean()), stated, share * stated)


ON = (MOBILITY.id,)
CLAIMS: list[Claim[pandas.DataFrame]] = [
    Claim("D5-visits", "5a", "450 thousand visits of 40 thousand users", "6.1.1", "450,000",
          about("visits", 450_000, 0.1), ON),
    Claim("D5-pairs", "5a", "160 thousand pairs of user and cell", "6.1.1", "160,000",
          about("pairs", 160_000, 0.1), ON),
    Claim("D5-once", "5a", "a third of them are visited once", "6.1.1", "1/3", about("once", 1 / 3, 0.1), ON),
    Claim("D5-day", "5b", "half of the visits are shorter than a day", "6.1.1", "50 %",
          about("within_a_day", 0.5, 0.1), ON),
    Claim("D5-week", "5b", "a tenth are longer than a week", "6.1.1", "10 %",
          about("over_a_week", 0.1, 0.1), ON),
]  # fmt: skip
