"""Figures 6 and 9 on the location model."""

from __future__ import annotations

from collections.abc import Sequence

from experiments.dynatops.claims.data import BySeed, Data, mean
from experiments.dynatops.claims.sayings import Curve, Pairs, at_least, below_all, curve
from experiments.dynatops.readings import (
    BASE,
    GEOPS,
    LEG_MESSAGES,
    LEGS,
    LOAD_SHARE,
    LOAD_WEIGHT,
    OWN_TOPICS,
    PLACED_BNR,
    REQUESTS,
    ROUND_TRIPS,
    STOPPING,
    SUBSTRATE,
    T_FREE,
    T_UPDATE,
    VISITS,
)
from testbed.reproduction.checks import shape
from testbed.reproduction.claim import Claim, Finding, Undecided

PLACING = tuple(r.id for r in (LOAD_WEIGHT, LOAD_SHARE, OWN_TOPICS, REQUESTS, T_UPDATE))
MOVING = tuple(r.id for r in (SUBSTRATE, BASE, STOPPING, T_FREE, VISITS, ROUND_TRIPS))
SENT = {"delay": (*MOVING, LEGS.id), "overhead": (*MOVING, LEG_MESSAGES.id)}
BAYEUX = ("bayeux-16(static)", "bayeux-16(loc)", "bayeux-16(loc+pns)")
SLIGHTLY = 0.10


def against(ours: str, rivals: Sequence[str], value: str) -> Pairs:
    def pairs(data: Data) -> list[tuple[str, BySeed, BySeed]]:
        return [(f"{ours} to {r}", data.placed(ours, value), data.placed(r, value)) for r in rivals]

    return pairs


def sizes(data: Data) -> list[int]:
    found = [int(c) for c in data.known("location", "cluster", "dynatops")]
    if len(found) < 3:
        raise Undecided("other cluster sizes")
    return found


def by_size(value: str, system: str = "dynatops") -> Curve:
    def values(data: Data) -> list[BySeed]:
        return [data.placed(system, value, cluster=c) for c in sizes(data)]

    return values


def reduced(number: str, value: str, bayeux: float, geops: float) -> list[Claim[Data]]:
    """Figures 6d and 6e have the same sentences."""
    prefix, readings = "dynatops-prefix", (*PLACING, *SENT[value])
    return [
        Claim(
            f"D{number}-up", number, f"user placement improves the notification {value}", "6.3.1", "below",
            below_all(against("up", ("chash(static)", "chash(loc)"), value)), readings,
        ),
        Claim(
            f"D{number}-bnr", number, f"broker network reconfiguration improves the notification {value}",
            "6.3.1", "below", below_all(_bnr(value)), (*readings, PLACED_BNR.id),
        ),
        Claim(
            f"D{number}-bnr-bayeux", number,
            f"DYNATOPS(BNR) is below Bayeux of the same placement in {value}", "6.3.1", "below",
            below_all(_bnr_bayeux(value)), (*readings, PLACED_BNR.id),
        ),
        Claim(
            f"D{number}-bayeux", number, f"over {bayeux:g} % improvement against Bayeux in {value}", "6.3.1",
            f"> {bayeux:g} %",
            at_least(bayeux, against("dynatops", BAYEUX, value), against(prefix, BAYEUX, value)), readings,
        ),
        Claim(
            f"D{number}-geops", number, f"{geops:g} % improvement against GeoPS in {value}", "6.3.1",
            f"> {geops:g} %",
            at_least(geops, against("dynatops", ("geops",), value), against(prefix, ("geops",), value)),
            (*readings, GEOPS.id),
        ),
        Claim(
            f"D6f-{value}", "6f", f"the improvement in {value} increases with the cluster size", "6.3.1",
            "falls with c", curve("falls", by_size(value), slack=0.01), readings,
        ),
    ]  # fmt: skip


def _bnr(value: str) -> Pairs:
    def pairs(data: Data) -> list[tuple[str, BySeed, BySeed]]:
        return [
            (
                f"BNR to consistent hashing ({p})",
                data.placed(f"bnr({p})", value),
                data.placed(f"chash({p})", value),
            )
            for p in ("static", "loc")
        ]

    return pairs


def _bnr_bayeux(value: str) -> Pairs:
    def pairs(data: Data) -> list[tuple[str, BySeed, BySeed]]:
        return [
            (
                f"BNR to Bayeux, base {base} ({p})",
                data.placed(f"bnr({p})", value),
                data.placed(f"bayeux-{base}({p})", value),
            )
            for base in (16, 2)
            for p in ("static", "loc")
        ]

    return pairs


def ten_are_enough(data: Data) -> Finding:
    rivals = ("bayeux-16(static)", "bayeux-16(loc)", "geops")
    return below_all(against("dynatops", rivals, "management"))(data)


def unbalanced(data: Data) -> Finding:
    """w_l = 0 is worse than the others, and worse with larger clusters."""
    known = data.location
    listed = sorted(int(c) for c in known[(known.system == "up") & (known.load == 0.0)].cluster.unique())
    if len(listed) < 2:
        raise Undecided("w_l = 0 with other cluster sizes")
    zero = [data.placed("up", "load_deviation", cluster=c, load=0.0) for c in listed]
    grown = shape([mean(one) for one in zero], "rises", strict=True)
    others = max(
        mean(data.placed(r, "load_deviation")) for r in ("bayeux-16(static)", "bayeux-16(loc)", "geops")
    )
    worse = all(mean(one) > others for one in zero)
    text = f"w_l = 0, c = {', '.join(map(str, listed))}: {grown.measured}; the largest of others {others:.3g}"
    return Finding(bool(grown.holds) and worse, text, "standard deviation of user subscriptions over brokers")


def balanced(data: Data) -> Finding:
    """Every w_l above 0 has less than w_l = 0, at every cluster size that has both."""
    known = data.location
    rows = known[known.system == "up"]
    points = sorted({(int(c), float(w)) for c, w in zip(rows.cluster, rows.load, strict=True) if w > 0})
    pairs = [
        (
            f"c = {c}, w_l = {w:g}",
            data.placed("up", "load_deviation", c, w),
            data.placed("up", "load_deviation", c, 0.0),
        )
        for c, w in points
        if ((rows.cluster == c) & (rows.load == 0.0)).any()
    ]
    if not pairs:
        raise Undecided("w_l = 0")
    return below_all(lambda _: pairs)(data)


def periods(value: str, up: bool) -> Claim[Data]:
    def check(data: Data) -> Finding:
        known = data.location
        rows = known[(known.system == "dynatops") & (known.cluster == 10)]
        listed = sorted(int(p) for p in rows.period.unique())
        if len(listed) < 3:
            raise Undecided("other periods")
        return with_period(listed, [mean(data.placed("dynatops", value, period=p)) for p in listed], up)

    words = f"with a larger T_free the {value} {'degrades slightly' if up else 'falls'} (location)"
    stated = "rises by at most 10 %" if up else "falls"
    return Claim(f"D9-location-{value}", "9", words, "6.3.2", stated, check, (*PLACING, *MOVING))


def with_period(listed: Sequence[int], values: Sequence[float], up: bool) -> Finding:
    text = ", ".join(f"{p} h: {v:.4g}" for p, v in zip(listed, values, strict=True))
    if not up:
        return shape(values, "falls", strict=True).said(text)
    rises = shape(values, "rises", slack=0.01)
    grown = values[-1] / values[0] - 1
    return Finding(
        bool(rises.holds) and 0 <= grown <= SLIGHTLY, f"{text} ({100 * grown:+.1f} %)", "1 % slack"
    )


RIVALS_6A = ("bayeux-16(static)", "bayeux-16(loc)", "geops")
MANAGED = (*PLACING, BASE.id, SUBSTRATE.id, GEOPS.id)
CLAIMS: list[Claim[Data]] = [
    Claim(
        "D6a-least", "6a", "DYNATOPS significantly reduces the subscription management overhead", "6.3.1",
        "below", below_all(
            against("dynatops", RIVALS_6A, "management"),
            against("dynatops-prefix", RIVALS_6A, "management"),
        ), MANAGED,
    ),
    Claim(
        "D6a-40", "6a", "over 40 % reduction in brokers' subscription management overhead", "1", "> 40 %",
        at_least(40, against("dynatops", RIVALS_6A, "management"), against("dynatops", RIVALS_6A, "changes")),
        MANAGED,
    ),
    Claim("D6a-ten", "6a", "ten brokers in a cluster are enough to outperform the others", "4", "below",
          ten_are_enough, MANAGED),
    Claim("D6a-u", "6a", "the overhead first falls with the cluster size and then rises", "6.3.1", "u",
          curve("u", by_size("management")), MANAGED),
    Claim("D6a-trees", "6a", "larger clusters reduce topic tree updates", "6.3.1", "falls",
          curve("falls", by_size("tree_messages")), MANAGED),
    Claim("D6b-zero", "6b", "similarity alone worsens the load imbalance, more so in large clusters", "6.3.1",
          "worse, rising with c", unbalanced, PLACING),
    Claim("D6b-weighed", "6b", "the load factor greatly improves it", "6.3.1", "below w_l = 0", balanced,
          PLACING),
    Claim(
        "D6c", "6c", "DYNATOPS reduces the user handovers by over 80 % against GeoPS", "6.3.1", "> 80 %",
        at_least(80, against("dynatops", ("geops",), "handovers")), (*PLACING, GEOPS.id),
    ),
    *reduced("6d", "delay", 60, 30),
    *reduced("6e", "overhead", 40, 20),
    periods("delay", True), periods("overhead", True), periods("reconfiguration", False),
]  # fmt: skip
