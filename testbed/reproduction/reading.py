"""A reading: how something is understood that a paper leaves open. Declared before results are looked at."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Reading:
    """`default` is what the study uses; `why` says so without a look at what it gives.

    A reading that was chosen by what it does to a claim (`calibrated_on` names it) cannot confirm that claim.
    """

    id: str
    question: str
    choices: tuple[str, ...]
    default: str
    why: str
    calibrated_on: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.default not in self.choices:
            raise ValueError(f"reading {self.id}: {self.default!r} is none of its choices")


def check_readings(readings: Sequence[Reading], used: Iterable[tuple[str, Sequence[str]]]) -> None:
    """Each is declared once, and what claims (id, readings) rest on is declared."""
    known = [reading.id for reading in readings]
    twice = sorted({one for one in known if known.count(one) > 1})
    if twice:
        raise ValueError(f"declared twice: reading {', '.join(twice)}")
    for claim, rests_on in used:
        for one in rests_on:
            if one not in known:
                raise ValueError(f"claim {claim} rests on the reading {one!r}, which nobody declared")
