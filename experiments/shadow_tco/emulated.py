"""Runs the deployed system with each maintenance algorithm, on one or more engines, and measures it."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import msgspec
import pandas

from experiments.shadow_tco.deployment import COORDINATOR, FULL, SMOKE, SYSTEMS, Churned, plan_of
from experiments.shadow_tco.emulated_claims import CLAIMS
from experiments.shadow_tco.emulated_figures import emulated_figures
from experiments.shadow_tco.measures import Observed
from testbed.figures.reproduction import Request, ResultFolder
from testbed.figures.verdict import Verdict, judge, undecided
from testbed.run.folder import RunFolder
from testbed.sweep.run import run_plans

SIZES = {"smoke": SMOKE, "full": FULL}
ENGINES = {"smoke": ("simulate",), "full": ("simulate", "guest")}
SEED = 1


@dataclass(frozen=True)
class Emulated:
    """`rounds`: a row per churn event; `runs`: a row per run; both by engine and system."""

    rounds: pandas.DataFrame
    runs: pandas.DataFrame


def emulate(request: Request) -> list[Verdict]:
    """Tables, figures and findings under <scale>-emulated; a run that failed leaves unknowns."""
    folder = ResultFolder(request, "emulated", whole=True)
    size = SIZES[request.scale]
    engines = (request.engine,) if request.engine else ENGINES[request.scale]
    rows, totals, manifests, failed = [], [], [], []
    for engine in engines:
        runs = _runs(size, engine, folder.path / "runs", request)
        failed += [f"{engine} {system}" for system in SYSTEMS if system not in runs]
        for system, run in runs.items():
            more, total = measured(run)
            labels = {"engine": engine, "system": system}
            rows += [{**labels, **row} for row in more]
            totals.append({**labels, **total})
            manifests.append({**labels, **manifest_of(run)})
    provenance = f"{size.brokers} brokers, {size.rounds} rounds of churn, seed {SEED}"
    data = Emulated(pandas.DataFrame(rows), pandas.DataFrame(totals))
    if totals:
        folder.table("churn", data.rounds)
        folder.table("runs", data.runs)
        for figure in emulated_figures(data.rounds, provenance):
            folder.figure(figure)
    verdicts = verdicts_of(data, failed, f"{provenance}; {' and '.join(engines)}")
    folder.extra = {
        "size": asdict(size), "engines": list(engines), "seeds": [SEED], "runs": manifests, "failed": failed,
    }  # fmt: skip
    folder.close(verdicts)
    return verdicts


def verdicts_of(data: Emulated, failed: list[str], provenance: str) -> list[Verdict]:
    """Every claim is about all runs: without one of them none can be judged."""
    return undecided(CLAIMS, failed, provenance) if failed else judge(CLAIMS, data, provenance)


def _runs(size: Churned, engine: str, results: Path, request: Request) -> dict[str, RunFolder]:
    """A sweep over the systems; a finished run of the same plan is taken as it is, a failed one left out."""
    plans = {system: plan_of(size, system, SEED) for system in SYSTEMS}
    result = run_plans(engine, plans, engine, results, request.master, request.report)
    for system, failure in result.failed.items():
        request.fail(f"{engine}/{system}", failure.reason, result.log(system))
    points = result.folder / "points"
    return {
        system: RunFolder(points / system / result.done[system].run)
        for system in SYSTEMS
        if system in result.done
    }


def manifest_of(run: RunFolder) -> dict[str, Any]:
    """Without the command: it is the reproduction's, with this machine's paths."""
    manifest: dict[str, Any] = msgspec.to_builtins(run.read_manifest())
    manifest.pop("command", None)
    return manifest


def measured(run: RunFolder) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    plan = run.read_plan()
    interests = {b.id: list(b.algorithm["topics"]) for b in plan.brokers if b.id != COORDINATOR}
    seen = Observed(read(run), interests)
    rounds = seen.rounds()
    published = seen.kind("PUBLISHED")
    return rounds, {
        "published": len(published),
        "delivered": len(seen.kind("DELIVERED")),
        "lost": len(seen.lost()),
        "lost_outside_gaps": len(seen.unexplained()),
        "delivered_twice": seen.duplicates_delivered(),
        "relays": seen.relays(),
        "duplicate_factor": seen.duplicate_factor(),
        "links_at_start": _at_start(seen)["links"],
        "max_degree_at_start": _at_start(seen)["max_degree"],
    }


def _at_start(seen: Observed) -> dict[str, Any]:
    first: dict[str, Any] = msgspec.json.decode(seen.kind("REPAIRED")[0]["content"])
    return first


def read(run: RunFolder) -> list[dict[str, Any]]:
    """All events; the last line of a killed broker's log may be torn."""
    events = []
    for path in sorted(run.events.glob("*.jsonl")):
        *lines, _torn = path.read_bytes().split(b"\n")
        events += [msgspec.json.decode(line) for line in lines if line]
    return events
