"""How sentences of section 6.3 become findings: one system against others, at every point it is said of."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from experiments.dynatops.claims.data import BySeed, Data, is_below, mean, reduction, told
from testbed.reproduction.checks import shape
from testbed.reproduction.checks.shape import Shape
from testbed.reproduction.claim import Finding, Undecided

Pairs = Callable[[Data], Iterable[tuple[str, BySeed, BySeed]]]  # where, ours, theirs
Curve = Callable[[Data], Sequence[BySeed]]
Check = Callable[[Data], Finding]


def at_least(percent: float, pairs: Pairs, beside: Pairs | None = None) -> Check:
    """Ours is below theirs by so many percent of theirs or more, everywhere. `beside`: what another reading
    gives; it is told, not judged.
    """

    def check(data: Data) -> Finding:
        found = list(pairs(data))
        worst = min(reduction(ours, theirs) for _, ours, theirs in found)
        return Finding(worst >= percent, _said(found) + _aside(data, beside), f"{percent:g} % or more below")

    return check


def about(percent: float, tolerance: float, pairs: Pairs, beside: Pairs | None = None) -> Check:
    """A number that the paper states: not much less, and not much more."""

    def check(data: Data) -> Finding:
        found = list(pairs(data))
        gaps = [abs(reduction(ours, theirs) - percent) for _, ours, theirs in found]
        text = _said(found) + _aside(data, beside)
        return Finding(max(gaps) <= tolerance, text, f"within {tolerance:g} points of {percent:g} %")

    return check


def below_all(pairs: Pairs, beside: Pairs | None = None) -> Check:
    def check(data: Data) -> Finding:
        found = list(pairs(data))
        holds = all(is_below(ours, theirs) for _, ours, theirs in found)
        return Finding(holds, _said(found) + _aside(data, beside), "means of paired differences")

    return check


def curve(kind: Shape, values: Curve, slack: float = 0.0, strict: bool = False) -> Check:
    def check(data: Data) -> Finding:
        return shape([mean(one) for one in values(data)], kind, slack, strict)

    return check


def _said(pairs: Sequence[tuple[str, BySeed, BySeed]]) -> str:
    return "; ".join(f"{where}: {told(ours, theirs)}" for where, ours, theirs in pairs)


def _aside(data: Data, beside: Pairs | None) -> str:
    if beside is None:
        return ""
    try:
        return f" [{_said(list(beside(data)))}]"
    except Undecided:
        return ""
