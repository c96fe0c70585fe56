"""What the deployed system must do, and what the paper's algorithms promise of it.

The paper has no such experiment: "stated" is the definition or the claim that the check carries over.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import pandas

from experiments.shadow_tco.deployment import CHARGED, Churned
from testbed.reproduction.checks import at_most
from testbed.reproduction.claim import Claim, Finding


@dataclass(frozen=True)
class Deployed:
    """`rounds`: a row per churn event; `runs`: a row per run; both by engine and system."""

    rounds: pandas.DataFrame
    runs: pandas.DataFrame
    size: Churned


def per_run(data: Deployed, column: str) -> str:
    return ", ".join(f"{r.engine} {r.system}: {getattr(r, column)}" for r in data.runs.itertuples())


def none_of(column: str, data: Deployed) -> Finding:
    return at_most(list(data.runs[column]), 0).said(per_run(data, column))


def by_system(data: Deployed, frame: pandas.DataFrame, column: str) -> pandas.Series:
    return frame.groupby(["engine", "system"], sort=True)[column].mean()


def text(series: pandas.Series, unit: str = "") -> str:
    return ", ".join(f"{' '.join(key)}: {value:.3g}{unit}" for key, value in series.items())


def all_repaired(data: Deployed) -> Finding:
    late = int(data.rounds.repaired_us.isna().sum())
    return Finding(not late, f"{len(data.rounds) - late} of {len(data.rounds)} before the next round")


def joins_lose_nothing(data: Deployed) -> Finding:
    joins = data.rounds[data.rounds.kind == "join"]
    if not len(joins):
        return Finding(None, "", "no broker joined")
    return Finding(int(joins.lost.sum()) == 0, f"{int(joins.lost.sum())} lost in {len(joins)} joins")


def noticed(kind: str, data: Deployed) -> Finding:
    rows = data.rounds[data.rounds.kind == kind]
    if not len(rows):
        return Finding(None, "", f"no {kind}")
    by = sorted(set(rows.noticed_by))
    wanted = "no heartbeat" if kind == "kill" else "farewell: stopped"
    after = text(by_system(data, rows, "noticed_us") / 1e3, " ms")
    return Finding(by == [wanted], f"{', '.join(by)}; {after}")


def fewer_links(data: Deployed) -> Finding:
    frame = data.rounds.assign(changed=data.rounds.added + data.rounds.removed)
    mean = by_system(data, frame, "changed")
    good = all(mean[engine, "shadow"] < mean[engine, "low-oda"] for engine in set(data.rounds.engine))
    return Finding(good, text(mean, " links a round"))


def fewer_messages(data: Deployed) -> Finding:
    mean = by_system(data, data.rounds, "repair_messages")
    good = all(mean[engine, "shadow"] < mean[engine, "low-oda"] for engine in set(data.rounds.engine))
    return Finding(good, text(mean, " messages a round"))


def engines_agree(data: Deployed) -> Finding:
    columns = ["kind", "broker", "nodes", "links", "added", "removed", "max_degree"]
    engines = sorted(set(data.rounds.engine))
    if len(engines) < 2:
        return Finding(None, "", "one engine only")
    differ = []
    for system in sorted(set(data.rounds.system)):
        own = data.rounds[data.rounds.system == system]
        shown = [own[own.engine == engine][columns].to_numpy().tolist() for engine in engines]
        differ += [system] if any(other != shown[0] for other in shown[1:]) else []
    said = f"they differ for {', '.join(differ)}" if differ else "the same rounds"
    return Finding(not differ, f"{' and '.join(engines)}: {said}")


def gap_is_computing(data: Deployed) -> Finding:
    """Of two systems the gaps after a kill differ by what their coordinators compute, and by no more than a
    publisher's pause and the dials, which are not what the algorithms differ by."""
    slack_us = data.size.publish_every_us + DIALS_US
    takes = CHARGED[data.size.charged](data.size.brokers)
    kills = data.rounds[data.rounds.kind == "kill"]
    if not len(kills):
        return Finding(None, "", "no broker was killed")
    gap = by_system(data, kills, "gap_us")
    off = [
        abs(gap[engine, system] - gap[engine, "shadow"] - (takes[system][1] - takes["shadow"][1]))
        for engine in sorted(set(kills.engine))
        for system in ("naive", "low-oda")
    ]
    return at_most(off, slack_us).said(
        text(gap / 1e3, " ms"), f"within {slack_us / 1e3:.0f} ms of the charges"
    )


def far_fewer_links(data: Deployed) -> Finding:
    """166 and 44 times follow from the paper's ratios for 2,000 nodes; 20 are asked for."""
    frame = data.rounds.assign(changed=data.rounds.added + data.rounds.removed)
    parts, least = [], math.inf
    for engine in sorted(set(frame.engine)):
        for name, kinds in (("joins", ("join",)), ("leaves", ("kill", "leave"))):
            own = frame[(frame.engine == engine) & frame.kind.isin(kinds)]
            mean = own.groupby("system").changed.mean()
            if not len(own):
                return Finding(None, "", f"no {name}")
            times = float(mean["low-oda"] / mean["shadow"])
            least = min(least, times)
            parts.append(
                f"{engine} {name}: {mean['shadow']:.3g} against {mean['low-oda']:.4g}, {times:.1f} times"
            )
    return Finding(least >= 20, "; ".join(parts), "20 times asked for")


EMULATED = "emulated"
DIALS_US = 100_000  # other links are dialled: about three round trips, which are 8 to 40 ms

CLAIMS: list[Claim[Deployed]] = [
    Claim(
        "E1",
        EMULATED,
        "nothing is lost outside of gaps",
        "III",
        "topic-connected",
        lambda d: none_of("lost_outside_gaps", d),
    ),
    Claim(
        "E2",
        EMULATED,
        "no client gets a publication twice",
        "-",
        "exactly once",
        lambda d: none_of("delivered_twice", d),
    ),
    Claim(
        "E3",
        EMULATED,
        "no broker handles a topic it does not share",
        "I",
        "no relays",
        lambda d: none_of("relays", d),
    ),
    Claim("E4", EMULATED, "every round is repaired before the next", "IV", "one at a time", all_repaired),
    Claim("E5", EMULATED, "joins lose nothing", "IV", "no link is torn down", joins_lose_nothing),
    Claim("E6", EMULATED, "kills are noticed by heartbeat", "-", "silence", lambda d: noticed("kill", d)),
    Claim("E7", EMULATED, "stops are noticed at once", "-", "farewell", lambda d: noticed("leave", d)),
    Claim("E8", EMULATED, "Shadow changes fewer links than LOW-ODA", "VI-C", "166 and 44 times", fewer_links),
    Claim("E9", EMULATED, "and needs fewer messages", "IV", "a new edge is costly", fewer_messages),
    Claim("E10", EMULATED, "engines agree on every round", "-", "same links", engines_agree),
]
LARGER: list[Claim[Deployed]] = [
    *CLAIMS,
    Claim(
        "E11",
        "larger",
        "gaps after a kill differ by the computing time",
        "VI-C",
        "0.333, 2.575 and 18.76 s a leave, where charged",
        gap_is_computing,
    ),
    Claim(
        "E12",
        "larger",
        "Shadow changes far fewer links than LOW-ODA",
        "VI-C",
        "166 and 44 times",
        far_fewer_links,
    ),
]
