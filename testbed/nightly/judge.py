"""Worse, better or same: tonight against the last nights. Pure.

For every seed, tonight's value minus the mean of the last nights' values for that seed; the mean of these
differences has a Student's t interval. Two spreads can hide a change, and the wider one counts:
- over seeds: a change that helps one seed and harms another is no change (tonight draws other numbers);
- over nights: what the same seed does from night to night without any change.
The verdict is `worse` or `better` only when the whole interval lies on one side of zero and the difference
is at least `smallest` of the value. A single seed with a single earlier night has no interval: `unknown`,
unless the two differ by less than `smallest`.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from scipy import stats

from testbed.nightly.history import Row
from testbed.reproduction.interval import mean_interval

Outcome = Literal["worse", "better", "same", "first", "unknown", "missing"]
CONFIDENCE = 0.99  # many measures every night: 95 % would cry wolf weekly
NIGHTS = 7


@dataclass(frozen=True)
class Comparison:
    reproduction: str
    measure: str
    outcome: Outcome
    before: float = math.nan  # mean over the seeds of the last nights
    now: float = math.nan
    low: float = math.nan  # interval of now - before
    high: float = math.nan
    seeds: int = 0
    nights: int = 0
    reason: str = ""

    @property
    def regression(self) -> bool:
        return self.outcome in ("worse", "missing")


def judge(tonight: Iterable[Row], history: Iterable[Row], ran: Iterable[str]) -> list[Comparison]:
    """Every measure of the reproductions that `ran`; one that is gone tonight is `missing`."""
    now, past = _by_measure(tonight), _by_measure(history)
    wanted = set(ran)
    found = [
        judge_claim(key, rows, past.get(key, []))
        if rows[0].claim
        else judge_measure(key, rows, past.get(key, []))
        for key, rows in now.items()
    ]
    last = {name: max(r.night for k, rows in past.items() if k[0] == name for r in rows) for name, _ in past}
    gone = [k for k, rows in past.items() if k not in now and k[0] in wanted and _ran_last(rows, last[k[0]])]
    return found + [Comparison(*key, "missing", reason="the last night had it") for key in gone]


def _by_measure(rows: Iterable[Row]) -> dict[tuple[str, str], list[Row]]:
    found: dict[tuple[str, str], list[Row]] = defaultdict(list)
    for row in rows:
        if not row.seconds:
            found[row.reproduction, row.measure].append(row)
    return dict(found)


def _ran_last(rows: Sequence[Row], night: str) -> bool:
    return any(row.night == night for row in rows)


def judge_measure(key: tuple[str, str], tonight: Sequence[Row], past: Sequence[Row]) -> Comparison:
    now = {row.seed: row.value for row in tonight}
    nights = sorted({row.night for row in past})[-NIGHTS:]  # those that ran: a missing night is no night
    before: dict[int, list[float]] = defaultdict(list)
    for row in past:
        if row.night in nights and row.seed in now:
            before[row.seed].append(row.value)
    mean_now = math.fsum(now.values()) / len(now)
    if not before:
        reason = "other seeds than before" if past else "nothing to compare with"
        return Comparison(*key, "first", now=mean_now, seeds=len(now), reason=reason)
    return _compare(key, now, before, tonight[0], len(nights))


def _compare(
    key: tuple[str, str], now: Mapping[int, float], before: Mapping[int, list[float]], about: Row, nights: int
) -> Comparison:
    means = {seed: math.fsum(values) / len(values) for seed, values in before.items()}
    differences = [now[seed] - means[seed] for seed in means]
    centre = math.fsum(differences) / len(differences)
    base = math.fsum(means.values()) / len(means)
    half = half_width(differences, list(before.values()))
    so_far = Comparison(*key, "unknown", base, base + centre, seeds=len(means), nights=nights)
    if half is None:
        little = abs(centre) < about.smallest * abs(base)
        reason = "one seed and one night have no interval"
        return replace(so_far, outcome="same" if centre == 0 or little else "unknown", reason=reason)
    low, high = centre - half, centre + half
    outcome = _outcome(centre, low, high, about.smallest * abs(base), about.better)
    return replace(so_far, outcome=outcome, low=low, high=high)


def half_width(differences: Sequence[float], nights: Sequence[Sequence[float]]) -> float | None:
    """Of the mean difference; None when there is neither a second seed nor a second night."""
    widths = []
    if len(differences) > 1:
        interval = mean_interval(differences, CONFIDENCE)
        widths.append(interval.high - interval.mean)
    freedom = sum(len(values) - 1 for values in nights)
    if freedom > 0:
        squares = (v - math.fsum(values) / len(values) for values in nights for v in values)
        variance = math.fsum(d * d for d in squares) / freedom
        # Tonight's value and the mean of the earlier ones both vary, for every seed on its own.
        share = math.fsum(1 + 1 / len(values) for values in nights) / len(nights) ** 2
        widths.append(float(stats.t.ppf((1 + CONFIDENCE) / 2, freedom)) * math.sqrt(variance * share))
    return max(widths) if widths else None


def _outcome(centre: float, low: float, high: float, smallest: float, better: str) -> Outcome:
    if low <= 0 <= high or abs(centre) < smallest:
        return "same"
    return "better" if (centre < 0) == (better == "lower") else "worse"


def judge_claim(key: tuple[str, str], tonight: Sequence[Row], past: Sequence[Row]) -> Comparison:
    """A claim of a paper passes or fails; only a change is news, and only if it does not come and go."""
    now = tonight[0].value
    if not past:
        return Comparison(*key, "first", now=now, seeds=1)
    values = [row.value for row in sorted(past, key=lambda row: row.night)][-NIGHTS:]
    before = values[-1]
    outcome: Outcome = "same" if now == before else "better" if now > before else "worse"
    reason = "claim: 1 = pass, 0 = fail"
    if now != before and tonight[0].timed:
        outcome, reason = "unknown", "claim about time: a busy machine turns it"
    elif now != before and len(set(values)) > 1:
        held = f"held in {sum(values):.0f} of the last {len(values)} nights"
        outcome, reason = "unknown", f"claim that comes and goes: {held}"
    return Comparison(*key, outcome, before, now, now - before, now - before, 1, len(values), reason)
