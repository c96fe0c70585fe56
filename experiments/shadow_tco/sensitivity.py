"""`--figure sensitivity`: what the paper leaves open, varied; evidence for the notes, no verdicts.

Uniform popularity, where most of the paper's numbers belong. Not among "all figures", since it is not one
of the paper's. A variant whose point failed has no rows.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from experiments.shadow_tco.points import SCALES, repair_point, tie_point
from experiments.shadow_tco.varied_repairs import variants
from experiments.shadow_tco.varied_ties import RULES
from experiments.shadow_tco.workload import Setting
from testbed.reproduction.collect import Groups
from testbed.reproduction.study import Ask, Part, Scale
from testbed.sweep.run import Effort

NAME = "sensitivity"


@dataclass(frozen=True)
class Varied:
    setting: Setting
    tie_rounds: int


def points(ask: Ask[Varied]) -> Groups:
    setting = ask.size.setting
    short = replace(setting, rounds=ask.size.tie_rounds)
    return {
        "ties": [tie_point(short, seed, rule) for rule in RULES for seed in ask.seeds],
        "repairs": [repair_point(setting, seed, variant) for variant in variants() for seed in ask.seeds],
    }


PART = Part(
    {
        name: Scale(Varied(SCALES[name].size.setting, rounds), more_seeds=False)
        for name, rounds in (("smoke", 4), ("full", 10))
    },
    (NAME,), points, lambda ask, found: [], name=NAME, by_default=False,
    extra=lambda ask: {"setting": ask.size.setting.__dict__}, effort=Effort(retries=1, timeout_s=6 * 3600),
)  # fmt: skip
