"""Figures 7, 8 and 9 on the Poisson model, and what the abstract makes of it."""

from __future__ import annotations

from collections.abc import Sequence

from experiments.dynatops.claims.data import BySeed, Data, mean, reduction
from experiments.dynatops.claims.location import with_period
from experiments.dynatops.claims.sayings import Check, Curve, Pairs, about, at_least, below_all, curve
from experiments.dynatops.readings import (
    AVERAGE,
    BASE,
    CLUSTERS,
    DCB_M,
    EVENTS,
    LEG_MESSAGES,
    LEGS,
    LOAD_SHARE,
    LOAD_WEIGHT,
    MODES,
    OWN_TOPICS,
    POPULARITY,
    REJOINING,
    REQUESTS,
    SIGMA,
    START,
    STOPPING,
    SUBSTRATE,
    T_UPDATE_POISSON,
)
from testbed.reproduction.claim import Claim, Finding, Undecided

PLACING = tuple(
    r.id for r in (LOAD_WEIGHT, LOAD_SHARE, OWN_TOPICS, REQUESTS, T_UPDATE_POISSON, CLUSTERS, START, MODES)
)
SENDING = tuple(r.id for r in (SUBSTRATE, BASE, EVENTS, POPULARITY, STOPPING))
SENT = {"delay": (*SENDING, LEGS.id, AVERAGE.id), "overhead": (*SENDING, LEG_MESSAGES.id)}
BAYEUX, OTHER_BASES = "bayeux-16", ("bayeux-2", "bayeux-4")
PATTERNS = ("uniform", "zipf", "modes")
HIGH = 0.1  # changes per user and hour, from which on they are fast


def rates(data: Data) -> list[float]:
    known = data.poisson
    rows = known[(known.pattern == "modes") & (known.period == 10) & (known.system == "dynatops")]
    found = sorted(float(r) for r in rows.rate.unique())
    if len(found) < 3:
        raise Undecided("the Poisson model at three rates")
    return found


def at_rates(ours: str, rivals: Sequence[str], value: str, least: float = 0.0) -> Pairs:
    def pairs(data: Data) -> list[tuple[str, BySeed, BySeed]]:
        return [
            (f"{rate:g}, {ours} to {r}", data.rated(ours, value, rate), data.rated(r, value, rate))
            for r in rivals
            for rate in rates(data)
            if rate >= least
        ]

    return pairs


def in_patterns(ours: str, rivals: Sequence[str], value: str, patterns: Sequence[str] = PATTERNS) -> Pairs:
    def pairs(data: Data) -> list[tuple[str, BySeed, BySeed]]:
        return [
            (f"{p}, {ours} to {r}", data.rated(ours, value, HIGH, p), data.rated(r, value, HIGH, p))
            for p in patterns
            for r in rivals
        ]

    return pairs


def along(system: str, value: str) -> Curve:
    def values(data: Data) -> list[BySeed]:
        return [data.rated(system, value, rate) for rate in rates(data)]

    return values


def connected_only_in_zipf(data: Data) -> Finding:
    """Below Bayeux with zipf, above it with the other patterns."""
    found = {
        p: reduction(data.rated("tco", "delay", HIGH, p), data.rated(BAYEUX, "delay", HIGH, p))
        for p in PATTERNS
    }
    text = ", ".join(f"{p} {-v:+.0f} %" for p, v in found.items())
    return Finding(found["zipf"] > 0 > max(found["uniform"], found["modes"]), f"TCO to Bayeux: {text}", "")


def moves(data: Data, listed: Sequence[float]) -> None:
    """A manager that never moves anybody has no cost to compare."""
    if not any(mean(data.rated("dynatops", "moved", rate)) for rate in listed):
        raise Undecided("a reconfiguration: at these event rates none is worth its cost")


def dramatic(data: Data) -> Finding:
    """At least in proportion to the rate, over the whole axis."""
    listed = rates(data)
    values = [mean(data.rated("tco", "reconfiguration", rate)) for rate in listed]
    text = ", ".join(f"{r:g}: {v:.4g}" for r, v in zip(listed, values, strict=True))
    grown, asked = values[-1] / values[0], listed[-1] / listed[0]
    return Finding(grown >= asked, f"{text} (x {grown:.1f})", f"at least x {asked:g}, as the rate")


def flat(data: Data) -> Finding:
    """It grows less, relatively, than that of TCO."""
    listed = rates(data)
    moves(data, listed)
    ours, theirs = (
        [mean(data.rated(system, "reconfiguration", rate)) for rate in listed]
        for system in ("dynatops", "tco")
    )
    if not ours[0]:
        raise Undecided("a reconfiguration at the lowest rate")
    text = f"DYNATOPS x {ours[-1] / ours[0]:.2f}, TCO x {theirs[-1] / theirs[0]:.2f}"
    return Finding(ours[-1] / ours[0] < theirs[-1] / theirs[0], text, "from the lowest rate to the highest")


def cheaper(percent: float) -> Check:
    def check(data: Data) -> Finding:
        moves(data, [rate for rate in rates(data) if rate >= HIGH])
        return at_least(percent, at_rates("dynatops", ("tco",), "reconfiguration", HIGH))(data)

    return check


def periods(value: str, up: bool) -> Claim[Data]:
    def check(data: Data) -> Finding:
        known = data.poisson
        rows = known[(known.system == "dynatops") & (known.rate == 0.025) & (known.pattern == "modes")]
        listed = sorted(int(p) for p in rows.period.unique())
        if len(listed) < 3:
            raise Undecided("other periods")
        if not any(mean(data.rated("dynatops", "moved", 0.025, period=p)) for p in listed):
            raise Undecided("a reconfiguration: at these event rates none is worth its cost")
        values = [mean(data.rated("dynatops", value, 0.025, period=p)) for p in listed]
        return with_period(listed, values, up)

    words = f"with a larger T_free the {value} {'degrades slightly' if up else 'falls'} (Poisson)"
    stated = "rises by at most 10 %" if up else "falls"
    return Claim(f"D9-poisson-{value}", "9", words, "6.3.2", stated, check, (*PLACING, *SENDING))


RIVALS = (BAYEUX, "tco", "bnr")
CLAIMS: list[Claim[Data]] = [
    Claim("D7a", "7a", "DYNATOPS reduces brokers' subscription changes by 80 %", "6.3.1", "80 %",
          about(80, 10, at_rates("dynatops", (BAYEUX,), "changes")), PLACING),
    Claim("D7a-rises", "7a", "changes rise with the rate", "6.3.1", "rises",
          curve("rises", along("dynatops", "changes"), strict=True), PLACING),
    Claim("D7b-tco", "7b", "TCO has a worse delay than Bayeux and DYNATOPS(BNR)", "6.3.1", "above",
          below_all(lambda d: [
              pair for one in (BAYEUX, "bnr") for pair in at_rates(one, ("tco",), "delay")(d)
          ]),
          (*SENT["delay"], DCB_M.id)),
    Claim("D7b-least", "7b", "DYNATOPS outperforms Bayeux and TCO in delay", "6.3.1", "below",
          below_all(at_rates("dynatops", (BAYEUX, "tco"), "delay"),
                    at_rates("dynatops-prefix", (BAYEUX, *OTHER_BASES, "tco"), "delay")),
          (*PLACING, *SENT["delay"], DCB_M.id)),
    Claim("D7b-10", "7b", "10 % improvement in delay", "6.3.1", "10 %",
          about(10, 5, at_rates("dynatops", (BAYEUX, "tco"), "delay"),
                at_rates("dynatops-prefix", (BAYEUX, *OTHER_BASES, "tco"), "delay")),
          (*PLACING, *SENT["delay"], DCB_M.id)),
    Claim("D7c-tco", "7c", "TCO has less overhead than Bayeux and DYNATOPS(BNR)", "6.3.1", "below",
          below_all(at_rates("tco", (BAYEUX, "bnr"), "overhead")), (*SENT["overhead"], DCB_M.id)),
    Claim("D7c-50", "7c", "over 50 % improvement in overhead", "6.3.1", "> 50 %",
          at_least(50, at_rates("dynatops", (BAYEUX, "tco"), "overhead"),
                   at_rates("dynatops-prefix", (BAYEUX, "tco"), "overhead")),
          (*PLACING, *SENT["overhead"], DCB_M.id)),
    Claim("D7d-tco", "7d", "TCO's reconfiguration overhead increases dramatically with the rate", "6.3.1",
          "rises dramatically", dramatic, (DCB_M.id,)),
    Claim("D7d-flat", "7d", "DYNATOPS's reconfiguration overhead is less sensitive to the rate", "6.3.1",
          "nearly flat", flat, (*PLACING, *SENDING, DCB_M.id, REJOINING.id)),
    Claim("D7d-80", "7d", "over 80 % less reconfiguration overhead than TCO when subscriptions change fast",
          "6.3.1", "> 80 %", cheaper(80), (*PLACING, *SENDING, DCB_M.id, REJOINING.id)),
    *(Claim(f"D8-{value}", "8a" if value == "delay" else "8b",
            f"DYNATOPS outperforms the other systems under all patterns ({value})", "6.3.1", "below",
            below_all(in_patterns("dynatops", RIVALS, value), in_patterns("dynatops-prefix", RIVALS, value)),
            (*PLACING, *SENT[value], DCB_M.id, SIGMA.id)) for value in ("delay", "overhead")),
    Claim("D8a-tco", "8a", "TCO has a low delay under zipf but worse under the other patterns", "6.3.1",
          "below Bayeux only with zipf", connected_only_in_zipf, (*SENT["delay"], DCB_M.id, SIGMA.id)),
    periods("delay", True), periods("overhead", True), periods("reconfiguration", False),
    *(Claim(f"D0-{value}", "7", f"30 % less notification {value} in general", "abstract", "> 30 %",
            at_least(30, at_rates("dynatops", (BAYEUX, "tco"), value)), (*PLACING, *SENT[value], DCB_M.id))
      for value in ("delay", "overhead")),
]  # fmt: skip
