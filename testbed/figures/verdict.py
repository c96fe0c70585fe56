"""A claim of a paper, and what a run says about it: pass, fail or unknown.

A check that crashes, or whose data is missing, is unknown and never pass; so is a claim that rests on a run
that failed, whatever the others say. A failed claim is a finding: nothing here can make a run fail because
a paper was not confirmed.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, Literal, TypeVar

import msgspec

from testbed.run.folder import write_atomically

Outcome = Literal["pass", "fail", "unknown"]
D = TypeVar("D")
RESTS = "rests on what failed: "


class Undecided(Exception):
    """For a check to raise: what it needs failed; the text names it."""


class Verdict(msgspec.Struct):
    claim: str
    outcome: Outcome
    figure: str
    statement: str
    source: str  # section of the paper
    stated: str  # the paper's value or shape
    measured: str
    reason: str = ""


@dataclass(frozen=True)
class Finding:
    """What a check saw. `holds` None = the data cannot tell, and `reason` says why."""

    holds: bool | None
    measured: str
    reason: str = ""


@dataclass(frozen=True)
class Claim(Generic[D]):
    id: str
    figure: str
    statement: str
    source: str
    stated: str
    check: Callable[[D], Finding]


def judge(claims: Iterable[Claim[D]], data: D, provenance: str) -> list[Verdict]:
    """Every claim gets a verdict; `provenance` (engine, scale) becomes part of the reason."""
    return [_judge_one(claim, data, provenance) for claim in claims]


def undecided(claims: Iterable[Claim[D]], failed: Iterable[str], provenance: str) -> list[Verdict]:
    """Unknown, all of them: they rest on these points."""
    reason = RESTS + ", ".join(failed)
    return [_verdict(claim, Finding(None, "", reason), provenance) for claim in claims]


def _judge_one(claim: Claim[D], data: D, provenance: str) -> Verdict:
    try:
        finding = claim.check(data)
    except Undecided as error:
        finding = Finding(None, "", f"{RESTS}{error}")
    except Exception as error:  # whatever went wrong, the claim was not confirmed
        finding = Finding(None, "", f"the check could not be made: {type(error).__name__}: {error}")
    return _verdict(claim, finding, provenance)


def _verdict(claim: Claim[D], finding: Finding, provenance: str) -> Verdict:
    outcome: Outcome = "unknown" if finding.holds is None else "pass" if finding.holds else "fail"
    reason = "; ".join(part for part in (finding.reason, provenance) if part)
    return Verdict(
        claim.id, outcome, claim.figure, claim.statement, claim.source, claim.stated, finding.measured, reason
    )


def write_verdicts(path: Path, verdicts: list[Verdict]) -> None:
    rows = [msgspec.to_builtins(v) for v in verdicts]
    write_atomically(path, (json.dumps(rows, indent=1, ensure_ascii=False) + "\n").encode())


def read_verdicts(path: Path) -> list[Verdict]:
    return msgspec.json.decode(path.read_bytes(), type=list[Verdict])
