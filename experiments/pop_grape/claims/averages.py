"""5.2: "All graphs use average values across all brokers or clients in the system."

So a delay is averaged per client first, then over clients. Averaged over deliveries, the 5 % of high-rated
subscribers of the clustered workload get about a third of the weight; such a claim is judged a second time.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace

from experiments.pop_grape.claims.data import CLIENT, DELIVERY, Data
from testbed.reproduction.claim import Claim, Finding

Check = Callable[[Data], Finding]
OLD = "the runs of these rows were averaged over deliveries only, and their logs are gone"


def both(claims: Sequence[Claim[Data]], about: Collection[str]) -> list[Claim[Data]]:
    """The claims about delays or hops by clients, and again by deliveries under names of their own."""
    found = []
    for claim in claims:
        if claim.id not in about:
            found.append(claim)
            continue
        again = replace(
            claim, id=f"{claim.id}-delivery", statement=f"{claim.statement}, averaged over deliveries",
            check=averaged(claim.check, DELIVERY),
        )  # fmt: skip
        found += [replace(claim, check=averaged(claim.check, CLIENT)), again]
    return found


def averaged(check: Check, average: str) -> Check:
    def checked(data: Data) -> Finding:
        found = check(replace(data, average=average))
        untold = found.holds is None and average == CLIENT and data.lacks_clients()
        return Finding(None, "", OLD) if untold else found

    return checked
