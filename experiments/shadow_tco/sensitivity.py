"""`--figure sensitivity`: what the paper leaves open, varied; evidence for the notes, no verdicts.

Uniform popularity, where most of the paper's numbers belong. Not among "all figures", since it is not one
of the paper's. A variant whose point failed has no rows.
"""

from __future__ import annotations

import re
from dataclasses import replace

import pandas

from experiments.shadow_tco.computed import computed_points, repair_point, tie_point
from experiments.shadow_tco.varied_repairs import variants
from experiments.shadow_tco.varied_ties import RULES
from experiments.shadow_tco.workload import Setting
from testbed.figures.reproduction import Request, ResultFolder
from testbed.sweep.computation import Computation
from testbed.sweep.tables import computed

TIE_ROUNDS = {"smoke": 4, "full": 10}


def vary(request: Request, setting: Setting, seed: int) -> None:
    folder = ResultFolder(request, "sensitivity", whole=True)
    short = replace(setting, rounds=TIE_ROUNDS[request.scale])
    studies = {
        "ties": {slug(rule): tie_point(short, seed, rule) for rule in RULES},
        "repairs": {
            slug(*map(str, variant)): repair_point(setting, seed, list(variant)) for variant in variants()
        },
    }
    for name, wanted in studies.items():
        table = study(request, folder, name, wanted)
        if table is not None:
            folder.table(name, table)
    folder.extra = {"setting": setting.__dict__, "seeds": [seed], "failed": list(request.failed)}
    folder.close([])


def study(
    request: Request, folder: ResultFolder, name: str, wanted: dict[str, Computation]
) -> pandas.DataFrame | None:
    result = computed_points(request, folder.path, name, wanted)
    parts = computed(result.folder, result.done, name)
    return pandas.concat(parts.values(), ignore_index=True) if parts else None


def slug(*words: str) -> str:
    """A folder's name."""
    return re.sub(r"[^a-z0-9]+", "-", " ".join(words).lower()).strip("-")
