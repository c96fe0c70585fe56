"""The computations of section VI and of the sensitivity study, as points of a sweep."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pandas

from experiments.shadow_tco.rounds import play
from experiments.shadow_tco.varied_repairs import vary_repair
from experiments.shadow_tco.varied_ties import vary_tie
from experiments.shadow_tco.workload import Setting
from testbed.figures.reproduction import Request
from testbed.sweep.computation import Computation, computation
from testbed.sweep.run import Effort, SweepResult, run_computations

SOURCES = (
    "broker_grpc.protocols.topicconnected",
    *(f"experiments.shadow_tco.{name}" for name in ("rounds", "workload")),
)
VARIED = (*SOURCES, *(f"experiments.shadow_tco.{name}" for name in ("varied_repairs", "varied_ties")))
EFFORT = Effort(retries=1, timeout_s=6 * 3600)
Report = Callable[[str], None]
Tables = dict[str, pandas.DataFrame]


def law(report: Report, setting: dict[str, Any], seed: int, systems: list[str], low_every: int) -> Tables:
    rounds, degrees = play(Setting(**setting), seed, systems, low_every, report)
    return {"rounds": rounds, "degrees": degrees}


def tie(report: Report, setting: dict[str, Any], seed: int, rule: str) -> Tables:
    return {"ties": vary_tie(rule, Setting(**setting), seed)}


def repair(report: Report, setting: dict[str, Any], seed: int, variant: list[Any]) -> Tables:
    return {"repairs": vary_repair(variant, Setting(**setting), seed)}


def law_point(setting: Setting, seed: int, systems: list[str], low_every: int) -> Computation:
    arguments = {"setting": asdict(setting), "seed": seed, "systems": systems, "low_every": low_every}
    return computation(f"{__name__}:law", arguments, SOURCES)


def tie_point(setting: Setting, seed: int, rule: str) -> Computation:
    arguments = {"setting": asdict(setting), "seed": seed, "rule": rule}
    return computation(f"{__name__}:tie", arguments, VARIED)


def repair_point(setting: Setting, seed: int, variant: list[Any]) -> Computation:
    arguments = {"setting": asdict(setting), "seed": seed, "variant": variant}
    return computation(f"{__name__}:repair", arguments, VARIED)


def computed_points(request: Request, folder: Path, name: str, wanted: dict[str, Computation]) -> SweepResult:
    """A sweep over them; those that fail are told."""
    result = run_computations(name, wanted, folder / "runs", request.master, request.report, EFFORT)
    for point, failure in result.failed.items():
        request.fail(f"{name}/{point}", failure.reason, result.log(point))
    return result
