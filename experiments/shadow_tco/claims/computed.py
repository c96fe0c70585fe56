"""Section VI's claims, figure by figure. Absolute times are not ours to match, their ratios are."""

from __future__ import annotations

from dataclasses import replace

from experiments.shadow_tco.claims.rounds import (
    Data,
    all_faster,
    average_steady,
    balanced_primaries,
    close_to_low,
    coverage_helps,
    coverage_saturates,
    degree_stated,
    faster,
    faster_than_naive,
    few_changes,
    greedy_degrades,
    less_intrusive,
    linear_backups,
    low_average,
    low_changes,
    low_repair,
    mean_share,
    naive_share,
    naive_worst,
    repairs,
    shadow_like_naive,
    shadow_set_share,
    skewed_primaries,
    slow_growth,
    topic_connected,
)
from experiments.shadow_tco.readings import RESTING, SCALE
from experiments.shadow_tco.systems import DUAL, GREEDY, LOW, NAIVE
from experiments.shadow_tco.workload import Popularity
from testbed.reproduction.claim import Claim, resting

DECLARED: list[Claim[Data]] = [
    Claim("S0", "all", "every topic is connected after every round", "III", "hard invariant",
          topic_connected),
    Claim("S1", "2, 3", "backup degree is linear in subscription size", "VI-A", "linear", linear_backups),
    Claim("S2", "2", "greedy: average backups", "VI-A", "1.1 % of |V0|",
          lambda d: mean_share(GREEDY, 0.011, d)),
    Claim("S3", "2", "greedy: primaries skewed", "VI-A", "42.9 % have fewer than 5", skewed_primaries),
    Claim("S4", "3", "primal-dual: average backups", "VI-A", "2.8 % of |V0|",
          lambda d: mean_share(DUAL, 0.028, d)),
    Claim("S5", "3", "primal-dual: primaries balanced", "VI-A", "21 to 59", balanced_primaries),
    Claim("S6", "4", "greedy degrades under churn", "VI-A", "84 at the last round", greedy_degrades),
    Claim("S7", "5", "maximum degree falls with lambda", "VI-B", "31, 25, 24, 24", coverage_helps),
    Claim("S8", "5", "lambda beyond 3 gains nothing", "VI-B", "24 and 24", coverage_saturates),
    Claim("S9", "6", "maximum degree close to LOW-ODA", "VI-C", "mean difference <= 5.5",
          lambda d: close_to_low("max_degree", 5.5, d)),
    Claim("S10", "6", "average degree close to LOW-ODA", "VI-C", "mean difference <= 0.798",
          lambda d: close_to_low("average_degree", 0.798, d)),
    Claim("S11", "6", "Shadow's degrees are Naive's", "VI-C", "similar", shadow_like_naive),
    Claim("S12", "6", "maximum degree grows slowly", "VI-C", "13 to 22 in 1,000 rounds", slow_growth),
    Claim("S13", "7", "join faster than from scratch", "VI-C", "6,970 times",
          lambda d: faster("join", 6970, d)),
    Claim("S14", "7", "leave faster than from scratch", "VI-C", "56 times", lambda d: faster("leave", 56, d)),
    Claim("S15", "7", "join faster than Naive", "VI-C", "2.9 times",
          lambda d: faster_than_naive("join", 2.9, d)),
    Claim("S16", "7", "leave faster than Naive", "VI-C", "7.7 times",
          lambda d: faster_than_naive("leave", 7.7, d)),
    Claim("S17", "7", "shadow set is small", "VI-C", "1.59 % mean, <= 4.97 %", shadow_set_share),
    Claim("S18", "8", "share of links changed by a join", "VI-C", "0.068 %",
          lambda d: repairs("join", 0.00068, d)),
    Claim("S19", "8", "share of links changed by a leave", "VI-C", "0.17 %",
          lambda d: repairs("leave", 0.0017, d)),
    Claim("S20", "8", "links changed by a join", "VI-C", "4.83", lambda d: few_changes("join", 4.83, d)),
    Claim("S21", "8", "links changed by a leave", "VI-C", "12.24", lambda d: few_changes("leave", 12.24, d)),
    Claim("S22", "6", "maximum degree at the start", "VI-C", "13", lambda d: degree_stated(d, LOW, 13, True)),
    Claim("S23", "6", "Shadow's maximum degree at the end", "VI-C", "22",
          lambda d: degree_stated(d, DUAL, 22)),
    Claim("S24", "6", "Naive's maximum degree at the end", "VI-C", "22",
          lambda d: degree_stated(d, NAIVE, 22)),
    Claim("S25", "5", "lambda = 1: maximum degree at the end", "VI-B", "31",
          lambda d: degree_stated(d, "shadow-pd-1", 31)),
    Claim("S26", "6", "average degrees do not degrade", "VI-C", "not significantly", average_steady),
    Claim("S27", "8", "LOW-ODA's average degree", "VI-C", "6.5 (610 links are 9.4 %)", low_average),
    Claim("S28", "8", "LOW-ODA's repair ratio", "VI-C", "9.4 %", lambda d: low_repair(9.4, "", d)),
    Claim("S29", "8", "links LOW-ODA changes", "VI-C", "610", low_changes),
    Claim("S30", "7", "Naive costs up to, against from scratch", "VI-C", "61.6 %", naive_worst),
    Claim("S31", "7", "Shadow is faster than Naive, and Naive than from scratch", "VI-C",
          "considerably, for joins and leaves", all_faster),
    Claim("S32", "7", "Naive's leave against from scratch", "VI-C", "14 %",
          lambda d: naive_share("leave", 0.14, d)),
    Claim("S33", "7", "Naive's join against from scratch", "VI-C", "0.043 %",
          lambda d: naive_share("join", 0.00043, d)),
    Claim("S34", "8", "repairs change far fewer links than LOW-ODA", "VI-C",
          "significantly: 0.068 % against 11.3 %, 0.17 % against 7.5 %", less_intrusive),
    Claim("S35", "8", "LOW-ODA's repair ratio for joins", "VI-C", "11.3 %",
          lambda d: low_repair(11.3, "join", d)),
    Claim("S36", "8", "LOW-ODA's repair ratio for leaves", "VI-C", "7.5 %",
          lambda d: low_repair(7.5, "leave", d)),
]  # fmt: skip

CLAIMS = resting(DECLARED, RESTING)
# Figures 2 and 3 are for a uniform distribution, says VI-A; the others name none.
UNIFORM_ONLY = {"S1", "S2", "S3", "S4", "S5"}


def of_law(law: Popularity) -> list[Claim[Data]]:
    """Those that a law is judged by; with another than the uniform one they carry its name."""
    if law == "uniform":
        return CLAIMS
    more = (SCALE.id,) if law == "exponential" else ()
    return [
        replace(c, id=f"{c.id}-{law}", readings=(*c.readings, *more) if c.readings else ())
        for c in CLAIMS
        if c.id not in UNIFORM_ONLY
    ]
