"""A claim of a paper and how it is judged.

A check that crashes, or whose data is missing, is unknown and never pass; so is a claim that rests on a point
that failed, whatever the others say, and one by which a reading was chosen. A failed claim is a finding:
nothing here can make a run fail because a paper was not confirmed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

from testbed.reproduction.reading import Reading
from testbed.reproduction.verdict import Outcome, Verdict

D = TypeVar("D")
RESTS = "rests on what failed: "


class Undecided(Exception):
    """For a check to raise: what it needs failed; the text names it."""


@dataclass(frozen=True)
class Finding:
    """What a check saw. `holds` None = the data cannot tell, and `reason` says why."""

    holds: bool | None
    measured: str
    reason: str = ""

    def said(self, measured: str | None = None, reason: str | None = None) -> Finding:
        """The same in other words; one that cannot tell keeps its own."""
        if self.holds is None:
            return self
        return replace(
            self,
            measured=self.measured if measured is None else measured,
            reason=self.reason if reason is None else reason,
        )


@dataclass(frozen=True)
class Claim(Generic[D]):
    id: str
    figure: str
    statement: str
    source: str
    stated: str
    check: Callable[[D], Finding]
    readings: tuple[str, ...] = ()  # ids of those that the check rests on


def judge(
    claims: Iterable[Claim[D]], data: D, provenance: str, readings: Sequence[Reading] = ()
) -> list[Verdict]:
    """Every claim gets a verdict; `provenance` (engine, scale) becomes part of the reason."""
    return [_verdict(claim, _found(claim, data, readings), provenance) for claim in claims]


def undecided(claims: Iterable[Claim[D]], failed: Iterable[str], provenance: str) -> list[Verdict]:
    """Unknown, all of them: they rest on these points."""
    reason = RESTS + ", ".join(failed)
    return [_verdict(claim, Finding(None, "", reason), provenance) for claim in claims]


def resting(claims: Iterable[Claim[D]], readings: dict[str, tuple[str, ...]]) -> list[Claim[D]]:
    """The claims with the readings that each rests on: reading -> claims; "S5-zipf" rests on those of S5."""
    return [
        replace(c, readings=tuple(r for r, on in readings.items() if c.id.partition("-")[0] in on))
        for c in claims
    ]


def _found(claim: Claim[D], data: D, readings: Sequence[Reading]) -> Finding:
    try:
        finding = claim.check(data)
    except Undecided as error:
        return Finding(None, "", f"{RESTS}{error}")
    except Exception as error:  # whatever went wrong, the claim was not confirmed
        return Finding(None, "", f"the check could not be made: {type(error).__name__}: {error}")
    chosen = [r.id for r in readings if claim.id in r.calibrated_on]
    if chosen:
        reason = f"the reading {', '.join(chosen)} was chosen by what it gives here"
        return Finding(None, finding.measured, "; ".join(part for part in (finding.reason, reason) if part))
    return finding


def _verdict(claim: Claim[D], finding: Finding, provenance: str) -> Verdict:
    outcome: Outcome = "unknown" if finding.holds is None else "pass" if finding.holds else "fail"
    reason = "; ".join(part for part in (finding.reason, provenance) if part)
    return Verdict(
        claim.id, outcome, claim.figure, claim.statement, claim.source, claim.stated, finding.measured,
        reason, list(claim.readings),
    )  # fmt: skip
