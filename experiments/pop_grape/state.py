"""`--figure 5e`: the bytes that a broker's own state holds, with and without the relocation layer.

The report measured Java processes of 512 MB. Resident memory of ours is mostly the interpreter, which no
algorithm changes; so here the tables of every broker (what routing knows and has told) and the profiles of
its layer (what POP or GRAPE remember) are counted object by object, each broker as if it were alone. The
cluster's 127 brokers, clustered workload, X = 16, nine minutes, once a minute. `memory.py` has the processes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pandas

from broker_grpc.protocols.contentbased.broker import Broker
from experiments.pop_grape.held import held
from experiments.pop_grape.points import FULL, HERE, SMOKE, Size, settings
from experiments.pop_grape.systems import BASELINE, DELAY100, LOAD100, POP, SYSTEMS
from testbed.reproduction.checks import at_most, order, within
from testbed.reproduction.claim import Claim, Finding, Undecided
from testbed.reproduction.collect import Found, Groups
from testbed.reproduction.figures.plot import Figure, Series
from testbed.reproduction.point import computed
from testbed.reproduction.study import Ask, Case, Part, Scale
from testbed.simulation.eventlog import SimulatedLog
from testbed.simulation.simulator import START_US, Simulator
from testbed.sweep.point import Task, plan_of
from testbed.topology.plan import Plan

NAME = "state"
FIGURE = "5e"
MINUTE_US = 60_000_000
CALLS = 5_000  # between two looks at the time
SCALES = {"smoke": Scale(SMOKE), "full": Scale(FULL)}
LENGTH = {"4min": "4min", "18min": "9min"}  # every system has moved its publishers by then
MB = 1e6
STATED_MB = (53.0, 56.0)


def points(ask: Ask[Size]) -> Groups:
    size = ask.size
    made = []
    for system, algorithm in SYSTEMS.items():
        chosen = settings(size, "cluster", algorithm, "clustered", size.spread)
        chosen = {**chosen, "duration": LENGTH[size.duration]}
        made += [
            computed(
                "state", f"{system}-{seed}", f"{__name__}:measure", {"settings": chosen}, seed,
                {"system": system, "seed": seed},
                ("experiments.pop_grape.held", "broker_grpc.protocols.relocation"),
                f"the state of brokers with {system}, seed {seed}",
            )
            for seed in ask.seeds
        ]  # fmt: skip
    return {NAME: made}


def measure(
    report: Callable[[str], None], settings: dict[str, Any], seed: int
) -> dict[str, pandas.DataFrame]:
    """Means over all brokers, minute by minute."""
    plan = plan_of(Task("state", str(HERE / "cluster.yaml"), "simulate", "", seed, settings))
    rows = []
    for minute, simulator in by_minute(plan):
        found = [state_of(machine) for machine in machines(simulator)]
        tables, profiles = (sum(values) / len(found) for values in zip(*found, strict=True))
        rows.append({"minute": minute, "tables_bytes": tables, "profile_bytes": profiles})
        report(f"minute {minute}: {tables / MB:.3f} MB of tables, {profiles / MB:.3f} MB of profiles")
    return {"state": pandas.DataFrame(rows)}


def by_minute(plan: Plan) -> Iterator[tuple[int, Simulator]]:
    """The simulation at the end of each minute, while it goes on."""
    with TemporaryDirectory() as folder:
        simulator = Simulator(plan, SimulatedLog(Path(folder) / "events.jsonl"), lambda tell: None)
        simulator.begin()
        minute = 1
        while simulator.step(CALLS):
            if simulator.agenda.now_us - START_US >= minute * MINUTE_US:
                yield minute, simulator
                minute += 1


def machines(simulator: Simulator) -> list[Broker]:
    running = simulator._running.values()
    return [process.machine for process in running if isinstance(process.machine, Broker)]


def state_of(broker: Broker) -> tuple[int, int]:
    """Bytes of its tables, and of its layer beside them."""
    seen = {id(broker), id(broker.options), id(broker.monitor)}
    tables = held(broker.routing, seen)
    return tables, held(broker._layer, seen) if broker._layer is not None else 0


# ---------------------------------------------------------------- claims


def totals(found: Found) -> pandas.DataFrame:
    """Megabytes per broker: a row per minute, a column per system; means over seeds."""
    if found.failed:
        raise Undecided("; ".join(map(str, found.failed)))
    table = found.table("state")
    if not len(table):
        return pandas.DataFrame()
    table = table.assign(mb=(table.tables_bytes + table.profile_bytes) / MB)
    wide = table.pivot_table(index="minute", columns="system", values="mb")
    return wide.reindex(columns=list(SYSTEMS)).dropna()


def extra(systems: tuple[str, ...], stated: float) -> Callable[[Found], Finding]:
    """What such a broker holds beyond the baseline's, at the worst minute."""

    def check(found: Found) -> Finding:
        wide = totals(found)
        if wide.empty:
            return Finding(None, "", "the state was not measured")
        more = wide[list(systems)].div(wide[BASELINE], axis=0) - 1
        worst = float(more.max(axis=None))
        bytes_ = 1e3 * float(wide[list(systems)].sub(wide[BASELINE], axis=0).max(axis=None))
        off = f"{100 * (worst - stated):+.0f} points from what is stated"
        return at_most([worst], stated).said(f"{100 * worst:+.1f} % ({bytes_:.1f} kB)", off)

    return check


def ordered(found: Found) -> Finding:
    """The largest over time, from left to right."""
    wide = totals(found)
    if wide.empty:
        return Finding(None, "", "the state was not measured")
    most = wide.max()
    grape = min(most[LOAD100], most[DELAY100])
    table = pandas.DataFrame([{BASELINE: most[BASELINE], POP: most[POP], "GRAPE": grape}], index=["largest"])
    text = ", ".join(f"{s} {most[s]:.4f} MB" for s in wide)
    return order(table, strict=True).said(text, "the largest over time")


def profiles_ordered(found: Found) -> Finding:
    """What POP remembers against what GRAPE does."""
    if found.failed:
        raise Undecided("; ".join(map(str, found.failed)))
    table = found.table("state")
    if not len(table):
        return Finding(None, "", "the state was not measured")
    most = table.groupby("system").profile_bytes.max() / 1e3
    text = ", ".join(f"{s} {most[s]:.1f} kB" for s in (POP, LOAD100, DELAY100))
    return Finding(bool(most[POP] < min(most[LOAD100], most[DELAY100])), text, "the largest over time")


def of_baseline(found: Found) -> Finding:
    wide = totals(found)
    if wide.empty:
        return Finding(None, "", "the state was not measured")
    mean = float(wide[BASELINE].mean())
    low, high = STATED_MB
    said = (
        f"{mean:.2f} MB, {mean / low:.3f} of it",
        "within a factor of two; theirs contains the Java process",
    )
    return within(mean, low / 2, high * 2).said(*said)


CLAIMS = [
    Claim("G8", "5e", "POP's extra state", "3, 5.2", "<= 34 %", extra((POP,), 0.34)),
    Claim("G9", "5e", "GRAPE's extra state", "4, 5.2, 6", "<= 58 %", extra((LOAD100, DELAY100), 0.58)),
    Claim("F5e", "5e", "a broker's state: baseline < POP < GRAPE", "5.2", "order", ordered),
    Claim("F5e-profiles", "5e", "POP remembers less than GRAPE", "5.2", "thanks to the running average",
          profiles_ordered),
    Claim("G21", "5e", "the baseline's state", "derived", "53 to 56 MB", of_baseline),
]  # fmt: skip


def cases(ask: Ask[Size], found: Found) -> list[Case]:
    where = f"simulator, {ask.request.scale} scale, cluster, X = {ask.size.spread}, {len(ask.seeds)} seed(s)"
    return [Case(CLAIMS, found, where, list(figures(found, where)))]


def figures(found: Found, provenance: str) -> Iterator[Figure]:
    table = found.table("state")
    if not len(table):
        return
    for name, column, words, unit in (
        ("5e", "tables_bytes", "tables and profiles", MB), ("5e-profiles", "profile_bytes", "profiles", 1e3)
    ):  # fmt: skip
        shown = table.profile_bytes + (table.tables_bytes if column == "tables_bytes" else 0)
        means = (shown / unit).groupby([table.system, table.minute]).mean()
        series = [
            Series(s, list(means[s].index), list(means[s])) for s in SYSTEMS if s in means.index.levels[0]
        ]
        label = f"{'MB' if unit == MB else 'kB'} per broker"
        title = f"Fig. {name}: bytes of a broker's {words}, cluster, clustered workload"
        yield Figure(f"fig{name}", title, "minutes of the run", label, series, (), provenance)


PART = Part(SCALES, (FIGURE,), points, cases, None, NAME, by_default=False)
