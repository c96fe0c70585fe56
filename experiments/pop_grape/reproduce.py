"""`testbed reproduce pop-grape`: the runs of section 5, tables, figures, verdicts."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path

from experiments.pop_grape import sensitivity
from experiments.pop_grape.claims import CLAIMS
from experiments.pop_grape.figures import all_figures, figure_of
from experiments.pop_grape.runs import Collected, collect, is_done, run_all
from experiments.pop_grape.systems import (
    FIGURE_GROUPS,
    SCALES,
    Planned,
    Scale,
    planned_points,
    wanted_groups,
)
from testbed.figures.reproduction import Request, ResultFolder
from testbed.figures.verdict import Verdict, judge, undecided
from testbed.run.engine import choose
from testbed.run.folder import write_atomically
from testbed.sweep.grid import point_id
from testbed.sweep.wanted import resolved

ONLY_DONE = "POP_GRAPE_ONLY_DONE"  # set: judge the runs that are there, start none
FIGURES = (*FIGURE_GROUPS, sensitivity.NAME)
DEFAULT_ENGINE = {"smoke": "guest", "full": "simulate"}


def reproduce(request: Request) -> list[Verdict]:
    """Every figure, or those named; the study of the lost settings only when it is named."""
    named = tuple(f for f in request.figures if f != sensitivity.NAME)
    verdicts = reproduce_figures(replace(request, figures=named)) if named or not request.figures else []
    if sensitivity.NAME in request.figures:
        verdicts += sensitivity.reproduce_sensitivity(request)
    return verdicts


def reproduce_figures(request: Request) -> list[Verdict]:
    scale = SCALES[request.scale]
    engine, _ = resolved(request.engine or DEFAULT_ENGINE[request.scale], "")
    if not os.environ.get(ONLY_DONE):
        choose(engine, None)  # what cannot run here is refused before anything is written
    folder = ResultFolder(request, figure_of=figure_of)
    seeds = list(range(1, (request.seeds or scale.seeds) + 1))
    raw = folder.path / "runs"
    groups = wanted_groups(scale, request.figures, engine)
    points = planned_points(scale, groups)
    planned = len(points) * len(seeds)
    if os.environ.get(ONLY_DONE):
        there = whole(scale, groups, seeds, raw, engine)
        found = collect(there, engine, raw, request.master, request.report, scale.analysed)
    else:
        found = run_all(points, engine, seeds, raw, request, scale.analysed)
    verdicts = judged(folder, found, scale, f"{engine} engine, {request.scale} scale")
    folder.extra = {
        "engine": engine, "seeds": seeds, "groups": groups, "runs": len(found.runs),
        "planned": planned, "failed": list(map(str, found.failed)),
    }  # fmt: skip
    folder.close(verdicts)
    return verdicts


def judged(folder: ResultFolder, found: Collected, scale: Scale, where: str) -> list[Verdict]:
    """Tables and figures of the runs that there are; claims that rest on others stay open."""
    if not len(found.runs):
        return undecided(CLAIMS, ["every run"], where)
    provenance = f"{where}, {seeds_of(found)} seed(s)"
    _write_tables(folder, found)
    for figure in all_figures(found.data(scale.spread), provenance):
        if folder.request.wants(figure_of(figure.id)):
            folder.figure(figure)
    return judge(CLAIMS, found.judged(scale.spread), provenance)


def seeds_of(found: Collected) -> str:
    """How many seeds a point has: a number, or from the fewest to the most."""
    counts = found.runs.groupby(["testbed", "system", "workload", "spread"]).seed.nunique()
    fewest, most = int(counts.min()), int(counts.max())
    return str(most) if fewest == most else f"{fewest} to {most}"


def whole(
    scale: Scale, groups: list[str], seeds: list[int], raw: Path, engine: str
) -> list[tuple[Planned, int]]:
    """The runs that are there, of each group with the seeds that all its points have: systems that are
    compared have the same seeds. If no seed is complete, the points that have all seeds."""
    found: dict[tuple[str, int], tuple[Planned, int]] = {}
    for name in groups:
        points = planned_points(scale, [name])
        complete = [seed for seed in seeds if all(is_done(raw, p, seed, engine) for p in points)]
        if not complete:
            points = [p for p in points if all(is_done(raw, p, seed, engine) for seed in seeds)]
        for point in points:
            for seed in complete or seeds:
                found.setdefault((point.testbed + point_id(point.settings, seed), seed), (point, seed))
    return list(found.values())


def _write_tables(folder: ResultFolder, found: Collected) -> None:
    folder.table("runs", found.runs)
    if len(found.moves):
        folder.table("relocations", found.moves)
    if len(found.timeline):
        folder.table("timeline", found.timeline)
    manifests = json.dumps(found.manifests, indent=1) + "\n"
    write_atomically(folder.path / "runs.json", manifests.encode())
