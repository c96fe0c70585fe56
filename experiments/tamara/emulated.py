"""`--figure emulated`: real brokers, users that come and go, a broker that dies: Tamara against Scribe.

The same run four times: both algorithms, keep-alives one by one and batched. Messages are counted from the
brokers' logs and from the wire. `settled`: the windows after clusters have formed and before a broker dies.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from experiments.tamara.measures import MEASURES
from experiments.tamara.systems import SCRIBE, TAMARA
from testbed.reproduction.checks import below
from testbed.reproduction.claim import Claim, Finding
from testbed.reproduction.collect import Found, Groups
from testbed.reproduction.point import Point, run_of_file
from testbed.reproduction.study import Ask, Case, Part, Scale
from testbed.sweep.run import Effort

NAME = "emulated"
FILE = Path(__file__).parent / "emulated.yaml"
SETTLED_S = range(60, 90, 10)  # starts of windows, from the first event on
MAINTENANCE = ("heartbeat", "tree")
DISSEMINATION = ("data", "data_to_root")
CLUSTERING = ("clustering", "survey", "membership")
KEEP_ALIVES = {"one by one": False, "batched": True}
COMMON = {
    "ring": {"bootstrap": "converged"}, "heartbeats": "down", "heartbeat_interval_us": 5_000_000,
    "silence_us": 12_000_000,
}  # fmt: skip
SIZES = {"smoke": {"brokers.B.count": 16, "network.sites": 24, "duration": "60s", "events": []}, "full": {}}


def points(ask: Ask[dict[str, Any]]) -> Groups:
    made = [
        point(ask, system, how, seed)
        for seed in ask.seeds
        for how in KEEP_ALIVES
        for system in (SCRIBE, TAMARA)
    ]
    return {NAME: made}


def point(ask: Ask[dict[str, Any]], system: str, how: str, seed: int) -> Point:
    algorithm: dict[str, Any] = {"name": system, **COMMON, "batch_heartbeats": KEEP_ALIVES[how]}
    if system == TAMARA:
        algorithm["clustering"] = {"cadence": 4}
    settings = {**ask.size, "brokers.B.algorithm": algorithm}
    labels: dict[str, str | int | float] = {"system": system, "keep_alives": how, "seed": seed}
    title = f"{system} on real brokers, keep-alives {how}, seed {seed}"
    return run_of_file(f"tamara-{NAME}", FILE, settings, seed, ask.engine, labels, title)


# ---------------------------------------------------------------- what is judged


def settled(found: Found, system: str, how: str, purposes: Sequence[str], column: str) -> dict[int, float]:
    """Per seed: what was sent for these purposes in the settled windows."""
    course = found.table("course")
    if not len(course):
        return {}
    chosen = course[
        (course.system == system) & (course.keep_alives == how)
        & course.purpose.isin(purposes) & course.window_s.isin(SETTLED_S)
    ]  # fmt: skip
    return {int(seed): float(rows[column].sum()) for seed, rows in chosen.groupby("seed")}


def saves(found: Found, how: str, purposes: Sequence[str], column: str) -> Finding:
    ours, plain = (settled(found, system, how, purposes, column) for system in (TAMARA, SCRIBE))
    finding = below(ours, plain)
    if not ours or not plain:
        return finding
    change = 100 * (sum(ours.values()) / sum(plain.values()) - 1)
    return finding.said(f"{change:+.1f} % {column}")


EVERYTHING = (*MAINTENANCE, *DISSEMINATION, *CLUSTERING)
CLAIMS: list[Claim[Found]] = [
    Claim(
        f"E{number}-{column}-{how.split()[0]}", NAME,
        f"real brokers, keep-alives {how}: {what} below Scribe's",
        "a question of ours", f"fewer {column}", partial(saves, how=how, purposes=purposes, column=column),
    )
    for number, what, purposes in (
        (1, "keep-alives and trees", MAINTENANCE), (2, "all, with surveys and clustering", EVERYTHING),
    )
    for how in KEEP_ALIVES
    for column in ("messages", "bytes")
]  # fmt: skip


def cases(ask: Ask[dict[str, Any]], found: Found) -> Sequence[Case]:
    size = f"{ask.size.get('brokers.B.count', 64)} real brokers, 200 clients, {len(ask.seeds)} seed(s)"
    return [Case(CLAIMS, found, size, rests_on=tuple(map(str, found.missing)))]


PART = Part(
    {name: Scale(size, seeds=1, engines=("guest",), analysed=True) for name, size in SIZES.items()},
    (NAME,), points, cases, MEASURES, name=NAME, by_default=False, effort=Effort(retries=0, timeout_s=7200),
)  # fmt: skip
