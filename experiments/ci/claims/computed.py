"""Section 5's claims, figure by figure. The text has no absolute costs."""

from __future__ import annotations

from dataclasses import replace

from experiments.ci.claims import checks
from experiments.ci.claims.data import Data
from experiments.ci.readings import OF_4, OF_5, OF_6, RIVALS
from experiments.ci.systems import CI, LAWS, MIT, MST
from testbed.reproduction.claim import Claim

RIVAL = (*OF_4, RIVALS.id)
DECLARED: list[Claim[Data]] = [
    Claim("C1", "4", "CI quickly reduces the costs", "5.1", "below static at 5,000 ticks",
          lambda d: checks.falls_quickly(d, CI), OF_4),
    Claim("C2", "4", "lMIT quickly reduces the costs", "5.1", "below static at 5,000 ticks",
          lambda d: checks.falls_quickly(d, MIT), RIVAL),
    Claim("C3", "4", "lMST quickly reduces the costs", "5.1", "below static at 5,000 ticks",
          lambda d: checks.falls_quickly(d, MST), RIVAL),
    Claim("C4", "4", "costs increase when links change at t1", "5.1", "increase, of all heuristics",
          lambda d: checks.jumps(d, 0), RIVAL),
    Claim("C5", "4", "costs increase when brokers change at t2", "5.1", "increase, of all heuristics",
          lambda d: checks.jumps(d, 1), RIVAL),
    Claim("C6", "4", "after t1 the heuristics improve the overlay again", "5.1", "after a short time",
          lambda d: checks.recovers(d, 0), RIVAL),
    Claim("C7", "4", "after t2 the heuristics improve the overlay again", "5.1", "after a short time",
          lambda d: checks.recovers(d, 1), RIVAL),
    Claim("C8", "4", "CI costs significantly less than the static network", "5.1", "significantly",
          lambda d: checks.saves(d, CI), OF_4),
    Claim("C9", "4", "lMIT costs significantly less than the static network", "5.1", "significantly",
          lambda d: checks.saves(d, MIT), RIVAL),
    Claim("C10", "4", "lMST costs significantly less than the static network", "5.1", "significantly",
          lambda d: checks.saves(d, MST), RIVAL),
    Claim("C11", "4", "CI performs better than the other heuristics", "5.1", "lowest", checks.ci_lowest,
          RIVAL),
    Claim("C12", "4", "95 % intervals are narrow", "caption", "below 6 % on average", checks.narrow, OF_4),
    Claim("C13", "5", "the biggest advantage is gained for eta = 4", "5.2", "4", checks.best_eta, OF_5),
    Claim("C14", "5", "for bigger eta the gain decreases", "5.2", "decreases", checks.shrinks, OF_5),
    Claim("C15", "5", "the cost of broadcasts grows with eta", "5.2", "grows", checks.broadcasts_grow, OF_5),
    Claim("C16", "5", "executing reconfigurations costs little", "5.2", "below 3 %", checks.cheap_exchanges,
          OF_5),
    Claim("C17", "6", "lMST performs worse with growing alpha", "5.3", "falls", checks.mst_falls, OF_6),
    Claim("C18", "6", "lMIT does not change when processing costs become more relevant", "5.3", "flat",
          checks.mit_flat, OF_6),
    Claim("C19", "6", "CI performs equally or better for all alpha", "5.3", "all alpha", checks.ci_best,
          OF_6),
]  # fmt: skip


def of_law(law: str) -> list[Claim[Data]]:
    """The same claims under each law of the static tree: the text does not say which is meant."""
    return [
        replace(claim, id=f"{claim.id}-{law}", statement=f"{claim.statement} ({LAWS[law]})")
        for claim in DECLARED
    ]


CLAIMS = [claim for law in LAWS for claim in of_law(law)]
