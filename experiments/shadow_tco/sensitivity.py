"""`--figure sensitivity`: what the paper leaves open, varied; evidence for the notes, no verdicts.

Uniform popularity, where most of the paper's numbers belong. Not among "all figures", since it is not one
of the paper's.
"""

from __future__ import annotations

from dataclasses import replace

from experiments.shadow_tco.varied_repairs import vary_repairs
from experiments.shadow_tco.varied_ties import vary_ties
from experiments.shadow_tco.workload import Setting
from testbed.figures.reproduction import Request, ResultFolder

TIE_ROUNDS = {"smoke": 4, "full": 10}


def vary(request: Request, setting: Setting, seed: int) -> None:
    folder = ResultFolder(request, "sensitivity")
    ties = vary_ties(replace(setting, rounds=TIE_ROUNDS[request.scale]), seed, request.report)
    folder.table("ties", ties)
    folder.table("repairs", vary_repairs(setting, seed, request.report))
    folder.extra = {"setting": setting.__dict__, "seeds": [seed]}
    folder.close([])
