"""Runs the deployed system with each maintenance algorithm, on one or more engines, and measures it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import msgspec
import pandas

from experiments.shadow_tco.deployment import COORDINATOR, FULL, SMOKE, SYSTEMS, Churned, plan_of
from experiments.shadow_tco.emulated_claims import CLAIMS
from experiments.shadow_tco.emulated_figures import emulated_figures
from experiments.shadow_tco.measures import Observed
from testbed.emulation.deploy import deploy, prepare
from testbed.emulation.engine import Options, choose
from testbed.errors import RunFailed, TestbedError
from testbed.figures.reproduction import Request, ResultFolder
from testbed.figures.verdict import Verdict, judge
from testbed.runfolder import RunFolder
from testbed.topology.plan import Plan

SIZES = {"smoke": SMOKE, "full": FULL}
ENGINES = {"smoke": ("simulate",), "full": ("simulate", "guest")}
SEED = 1
Say = Callable[[str], None]


@dataclass(frozen=True)
class Emulated:
    """`rounds`: a row per churn event; `runs`: a row per run; both by engine and system."""

    rounds: pandas.DataFrame
    runs: pandas.DataFrame


def emulate(request: Request) -> list[Verdict]:
    """Tables, figures and findings under <scale>-emulated; an engine that cannot run leaves unknowns."""
    folder = ResultFolder(request, "emulated")
    size = SIZES[request.scale]
    engines = (request.engine,) if request.engine else ENGINES[request.scale]
    rows, totals, manifests = [], [], []
    for engine in engines:
        for system in SYSTEMS:
            run = _run(size, system, engine, folder.path / "runs" / engine, request.report)
            if run is not None:
                more, total = measured(run)
                labels = {"engine": engine, "system": system}
                rows += [{**labels, **row} for row in more]
                totals.append({**labels, **total})
                manifests.append({**labels, **manifest_of(run)})
    if not totals:
        raise RunFailed("no run of the deployed system succeeded", hint=f"see {folder.path / 'runs'}")
    data = Emulated(pandas.DataFrame(rows), pandas.DataFrame(totals))
    folder.table("churn", data.rounds)
    folder.table("runs", data.runs)
    provenance = f"{size.brokers} brokers, {size.rounds} rounds of churn, seed {SEED}"
    for figure in emulated_figures(data.rounds, provenance):
        folder.figure(figure)
    verdicts = judge(CLAIMS, data, f"{provenance}; {' and '.join(engines)}")
    folder.extra = {"size": asdict(size), "engines": list(engines), "seeds": [SEED], "runs": manifests}
    folder.close(verdicts)
    return verdicts


def _run(size: Churned, system: str, engine: str, results: Path, say: Say) -> RunFolder | None:
    """A finished run of the same plan is taken as it is; None when the engine cannot run it."""
    plan = plan_of(size, system, SEED)
    known = _finished(results / plan.name, plan)
    if known is not None:
        say(f"{engine}, {system}: taken from {known.path}")
        return known
    say(f"{engine}, {system}: {len(plan.brokers) - 1} brokers, {size.rounds} rounds")
    try:
        chosen, clock, _ = choose(engine, None)
        outcome = deploy(prepare(plan, None, results, chosen.name, clock), chosen, Options(clock), _quiet)
    except TestbedError as error:
        say(f"{engine}, {system}: {error}")
        return None
    if outcome.code:
        say(f"{engine}, {system}: {outcome.manifest.status}: {outcome.manifest.reason}")
    return outcome.folder if outcome.manifest.status == "done" else None


def manifest_of(run: RunFolder) -> dict[str, Any]:
    """Without the command: it is the reproduction's, with this machine's paths."""
    manifest: dict[str, Any] = msgspec.to_builtins(run.read_manifest())
    manifest.pop("command", None)
    return manifest


def _quiet(event: Any) -> None:
    """Progress of a run is not shown: the name of the run is, and its folder has the rest."""


def _finished(folder: Path, plan: Plan) -> RunFolder | None:
    run = RunFolder((folder / "latest").resolve())
    if not run.manifest.exists() or run.read_manifest().status != "done":
        return None
    return run if msgspec.json.encode(run.read_plan()) == msgspec.json.encode(plan) else None


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
