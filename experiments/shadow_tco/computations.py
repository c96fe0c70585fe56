"""What a point of the study computes, by name: arguments that a file can hold, tables by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pandas

from experiments.shadow_tco.rounds import play
from experiments.shadow_tco.scratch import stretch
from experiments.shadow_tco.varied_repairs import vary_repair
from experiments.shadow_tco.varied_ties import vary_tie
from experiments.shadow_tco.workload import Setting

Report = Callable[[str], None]
Tables = dict[str, pandas.DataFrame]


def law(report: Report, setting: dict[str, Any], seed: int, systems: list[str], low_every: int) -> Tables:
    rounds, degrees = play(Setting(**setting), seed, systems, low_every, report)
    return {"rounds": rounds, "degrees": degrees}


def scratch(report: Report, setting: dict[str, Any], seed: int, first: int, last: int) -> Tables:
    return {"scratch": stretch(Setting(**setting), seed, first, last, report)}


def tie(report: Report, setting: dict[str, Any], seed: int, rule: str) -> Tables:
    return {"ties": vary_tie(rule, Setting(**setting), seed)}


def repair(report: Report, setting: dict[str, Any], seed: int, variant: list[Any]) -> Tables:
    return {"repairs": vary_repair(variant, Setting(**setting), seed)}
