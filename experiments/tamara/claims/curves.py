"""Figures 5 to 9: what the curves do."""

from __future__ import annotations

from functools import partial

import numpy as np
import pandas

from experiments.tamara.claims.data import Data
from experiments.tamara.readings import (
    ARRIVAL,
    CADENCE,
    CHANGE,
    COSTS,
    COUNTING,
    OVERLAP,
    PACKAGES,
    PAIRS,
    START,
    SURVEY,
)
from experiments.tamara.systems import SC, SCRIBE, TAMARA
from experiments.tamara.workload import MODELS
from testbed.reproduction.checks import at_most, below, factor, growth, least, order, shape
from testbed.reproduction.claim import Claim, Finding

MERGED = 0.05  # of OC: curves nearer than this practically merge
CHEAPER_FROM = 250  # users, figure 9
TIMES_BETTER = 4.0
KINDS = ("M = 2 h", "M = 12 h", "M = 24 h")
PAID = (*COSTS, ARRIVAL.id, OVERLAP.id, COUNTING.id)


def tenths(curve: pandas.DataFrame, column: str) -> list[float]:
    """Ten values at equal distances, the last at the end."""
    values = curve[column].to_numpy()
    return [float(values[at]) for at in np.linspace(0, len(values) - 1, 11).round().astype(int)[1:]]


def rises(data: Data, model: str) -> Finding:
    curve = data.curve("fresh", model)
    found = [shape(tenths(curve, column), "rises", slack=0.02) for column in ("scribe", "plus")]
    return Finding(all(f.holds for f in found), "; ".join(f.measured for f in found), "2 % slack")


def merged(data: Data, model: str) -> Finding:
    """After the first tenth, when there is something to cluster."""
    curve = data.curve("fresh", model)
    shares = (curve.overhead / curve.tamara).iloc[len(curve) // 10 :]
    return at_most(shares.to_list(), MERGED).said(f"at most {100 * shares.max():.2f} % of OC", "5 % allowed")


def below_scribe(data: Data, scenario: str, model: str, column: str = "plus") -> Finding:
    curve = data.curve(scenario, model)
    bad = curve[curve[column] >= curve.scribe]
    found = least(curve[[column, "scribe"]], axis="t")
    worst = (curve[column] / curve.scribe).max()
    return found.said(f"not at {len(bad)} of {len(curve)} checkpoints; at most {worst:.2f} of Scribe", "")


def gains(data: Data) -> Finding:
    """Infrequent saves most, Frequent least: paired over seeds."""
    changes = {m: data.change("fresh", m, TAMARA) for m in MODELS}
    found = [
        below(changes["infrequent"], changes["average"]), below(changes["average"], changes["frequent"]),
    ]  # fmt: skip
    means = ", ".join(f"{m} {np.mean(list(v.values())):.1f} %" for m, v in changes.items())
    holds = None if any(f.holds is None for f in found) else all(f.holds for f in found)
    return Finding(holds, means, "paired, 95 % intervals")


def magnitude(data: Data) -> Finding:
    ours = data.at_end("fresh", "infrequent", TAMARA, "maintenance")
    plain = data.at_end("fresh", "infrequent", SCRIBE, "maintenance")
    if not data.full:
        return Finding(None, "", "only the full scale has the paper's size")
    return factor(sum(plain.values()) / sum(ours.values()), 80 / 9, 1.5)


def faster_costs_more(data: Data) -> Finding:
    """Mean overhead per M over the whole period."""
    parts = {"two months": "fresh", "two weeks": "two weeks", "one day": "one day"}
    means = {name: float(data.curve(s, "average").overhead.mean()) for name, s in parts.items()}
    text = ", ".join(f"{name} {value:.0f} messages per M" for name, value in means.items())
    return shape(list(means.values()), "rises", strict=True).said(text)


def effort_first(data: Data) -> Finding:
    """Above Scribe at the beginning, below soon after: before half of the day, and from then on."""
    curve = data.curve("one day", "average")
    above = (curve.plus > curve.scribe).to_numpy()
    last = int(np.flatnonzero(above).max()) + 1 if above.any() else 0
    early = above[: max(1, len(above) // 10)].any()
    share = 100 * last / len(above)
    text = f"above at {int(above.sum())} of {len(above)} checkpoints, the last at {share:.0f} %"
    return Finding(
        bool(early) and last <= len(above) / 2, text, "above in the first tenth, below from half on"
    )


def smaller_gain(data: Data) -> Finding:
    return below(data.change("fresh", "average", TAMARA), data.change("uniform", "average", TAMARA))


def flat(data: Data, model: str) -> Finding:
    return growth(data.curve("shift", model).scribe.to_list(), -0.1, 0.1, relative=True)


def highest(data: Data, scenario: str, model: str) -> Finding:
    """Scribe above SC and above Tamara+, at every checkpoint."""
    table = pandas.DataFrame(
        {
            "SC": data.curve(scenario, model, SC).tamara, "Tamara+": data.curve(scenario, model).plus,
            "Scribe": data.curve(scenario, model).scribe,
        }
    )  # fmt: skip
    worst = float((table[["SC", "Tamara+"]].max(axis=1) / table.Scribe).max())
    return at_most([worst], 1.0).said(f"the other two reach {100 * worst:.0f} % of Scribe")


def rise_and_fall(data: Data, model: str) -> Finding:
    values = data.curve("shift", model).tamara.to_numpy()
    peak = int(values.argmax())
    share = 100 * peak / (len(values) - 1)
    text = f"{values[0]:.0f}, highest {values.max():.0f} at {share:.0f} %, {values[-1]:.0f}"
    return Finding(
        0 < peak < len(values) - 1 and values[-1] < 0.98 * values.max(), text, "a fall of 2 % or more"
    )


def order_at_end(data: Data, scenario: str, model: str) -> Finding:
    ends = {s: data.at_end(scenario, model, s) for s in (TAMARA, SC, SCRIBE)}
    return order(pandas.DataFrame(ends), strict=True, axis="seed")


def gap(data: Data) -> Finding:
    """SC above Tamara at the end, as a share of Scribe: less with uniform interests."""

    def gaps(scenario: str) -> dict[int, float]:
        frozen, ours = (data.change(scenario, "average", s) for s in (SC, TAMARA))
        return {seed: frozen[seed] - ours[seed] for seed in ours}

    return below(gaps("uniform shift"), gaps("shift"))


def shrinks(data: Data) -> Finding:
    means = {kind: data.mean_change("packages", kind, TAMARA) for kind in KINDS}
    text = ", ".join(f"{kind}: {value:.1f} %" for kind, value in means.items())
    return shape(list(means.values()), "rises", strict=True).said(text)


def cheaper_from(data: Data, kind: str) -> Finding:
    curve = data.curve("packages", kind)
    late = curve[curve.users >= CHEAPER_FROM * curve.users.max() / 1000]
    worst = float((late.plus / late.scribe).max())
    return at_most([worst], 1.0).said(f"at most {100 * worst:.0f} % of Scribe from there on")


def times_better(data: Data, kind: str) -> Finding:
    ours, plain = (sum(data.at_end("packages", kind, s).values()) for s in (TAMARA, SCRIBE))
    return Finding(plain / ours > TIMES_BETTER, f"{plain / ours:.1f} times") if ours else Finding(None, "")


def independent(data: Data) -> Finding:
    """Of the numbers of users and topics: savings differ by at most ten points."""
    names = [s for s in data.ends.scenario.unique() if " users, " in s]
    savings = {s: data.mean_change(s, "average", TAMARA) for s in (*names, "two weeks")}
    text = ", ".join(f"{s}: {value:.1f} %" for s, value in savings.items())
    spread = max(savings.values()) - min(savings.values())
    return at_most([spread], 10.0).said(text, "10 points allowed")


FIGURES = {"infrequent": "a", "average": "b", "frequent": "c"}
PERIODS = {"M = 2 h": "a", "M = 12 h": "b", "M = 24 h": "c"}

CLAIMS: list[Claim[Data]] = [
    *(
        Claim[Data](f"T1-{m}", f"5{f}", "costs rise as users subscribe", "5.2", "rise",
                    partial(rises, model=m), PAID)
        for m, f in FIGURES.items()
    ),
    *(
        Claim[Data](f"T2-{m}", f"5{f}", "Tamara and Tamara+ practically merge", "5.2", "overhead invisible",
                    partial(merged, model=m), PAID)
        for m, f in FIGURES.items()
    ),
    *(
        Claim[Data](f"T3-{m}", f"5{f}", "Tamara+ below Scribe all along", "5.2", "significantly lower",
                    partial(below_scribe, scenario="fresh", model=m), PAID)
        for m, f in FIGURES.items()
    ),
    Claim("T4", "5", "the gain falls with the frequency of events", "5.2", "77, 64, 48 %", gains, COSTS),
    Claim("T5", "5a", "maintenance by an order of magnitude", "abstract", "80 to 9", magnitude, COSTS),
    Claim("T20", "6", "overhead grows as the period shrinks", "5.2", "rises", faster_costs_more, PAID),
    Claim("T21", "6b", "one day: Tamara+ above Scribe first, below soon after", "5.2", "pays off soon",
          effort_first, PAID),
    Claim("T22", "6b", "one day: Tamara's OC below Scribe all along", "5.2", "below",
          lambda d: below_scribe(d, "one day", "average", "tamara"), (*COSTS, ARRIVAL.id)),
    Claim("T30", "7a", "uniform interests: Tamara below Scribe", "5.2", "still performs better",
          lambda d: below_scribe(d, "uniform", "average"), PAID),
    Claim("T31", "7a", "uniform interests: a smaller gain than with clusters", "5.2", "smaller", smaller_gain,
          COSTS),
    *(
        Claim[Data](f"T40-{m}", f"8{f}", "Scribe is stable", "5.2", "flat", partial(flat, model=m),
                    (START.id, CHANGE.id))
        for m, f in FIGURES.items()
    ),
    *(
        Claim[Data](f"T41-{m}", f"8{f}", "Scribe is highest throughout", "5.2", "high",
                    partial(highest, scenario="shift", model=m), (*PAID, START.id, CHANGE.id))
        for m, f in FIGURES.items()
    ),
    *(
        Claim[Data](f"T42-{m}", f"8{f}", "Tamara rises a bit, then falls", "5.2", "rises, then falls",
                    partial(rise_and_fall, model=m), (*COSTS, START.id, CHANGE.id))
        for m, f in FIGURES.items()
    ),
    *(
        Claim[Data](f"T43-{m}", f"8{f}", "at the end Tamara < SC < Scribe", "5.2", "order, every seed",
                    partial(order_at_end, scenario="shift", model=m), (*COSTS, START.id, CHANGE.id))
        for m, f in FIGURES.items()
    ),
    Claim("T44", "7b", "shift to uniform interests: Tamara best at the end", "5.2", "order, every seed",
          lambda d: order_at_end(d, "uniform shift", "average"), (*COSTS, START.id, CHANGE.id)),
    Claim("T45", "7b", "SC is nearer to Tamara than with a clustered shift", "5.2", "less significant", gap,
          (*COSTS, START.id, CHANGE.id)),
    Claim("T50", "9", "savings shrink as M grows", "5.3", "smaller", shrinks,
          (PACKAGES.id, PAIRS.id, CADENCE.id)),
    *(
        Claim[Data](f"T51-{n}", f"9{f}", "cheaper as soon as 250 users joined", "5.3", "Tamara+ below Scribe",
                    partial(cheaper_from, kind=k), (PACKAGES.id, PAIRS.id, CADENCE.id, OVERLAP.id))
        for k, f in PERIODS.items() for n in (k.split()[2],)
    ),
    *(
        Claim[Data](f"T52-{n}", f"9{f}", "with all users more than 4 times better", "5.3", "> 4",
                    partial(times_better, kind=k), (PACKAGES.id, PAIRS.id, CADENCE.id))
        for k, f in PERIODS.items() for n in (k.split()[2],)
    ),
    Claim("T60", "sizes", "results hardly depend on the numbers of users and topics", "5.2",
          "practically independent", independent, (*COSTS, SURVEY.id)),
]  # fmt: skip
