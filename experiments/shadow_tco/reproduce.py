"""`testbed reproduce shadow-tco`: tables, figures 2 to 8, verdicts."""

from __future__ import annotations

from dataclasses import replace

import pandas

from experiments.shadow_tco.claims import CLAIMS, UNIFORM_ONLY, Data
from experiments.shadow_tco.figures import all_figures
from experiments.shadow_tco.parts import Parts
from experiments.shadow_tco.workload import Popularity, Setting
from testbed.figures.reproduction import Request, ResultFolder
from testbed.figures.verdict import Verdict, judge

ALL_SYSTEMS = ["shadow-pd-1", "shadow-pd-2", "shadow-pd-3", "shadow-pd-4", "shadow-greedy", "naive"]
COMPUTED = ("2", "3", "4", "5", "6", "7", "8")
FIGURES = (*COMPUTED, "emulated", "sensitivity")
POPULARITIES: tuple[Popularity, ...] = ("uniform", "zipf", "exponential")
SCALES = {
    "smoke": (Setting(nodes=150, topics=30, smallest=3, largest=15, rounds=60), 10),
    "full": (Setting(), 50),
}
SEED = 1


def reproduce(request: Request) -> list[Verdict]:
    """Figures 2 to 8 are computed; `emulated` is the same maintenance as a running system.

    `sensitivity` is only for who asks for it.
    """
    verdicts = []
    if any(request.wants(figure) for figure in COMPUTED):
        verdicts += compute(request)
    if request.wants("emulated"):
        from experiments.shadow_tco.emulated import emulate

        verdicts += emulate(request)
    if "sensitivity" in request.figures:
        from experiments.shadow_tco.sensitivity import vary

        vary(request, SCALES[request.scale][0], SEED)
    return verdicts


def compute(request: Request) -> list[Verdict]:
    folder = ResultFolder(request)
    setting, low_every = SCALES[request.scale]
    parts = Parts(folder.path / "parts")
    rounds, degrees, verdicts = [], [], []
    for popularity in POPULARITIES:
        chosen = replace(setting, popularity=popularity)
        frame, backups = parts.play(chosen, SEED, ALL_SYSTEMS, low_every, request.report)
        rounds.append(frame)
        degrees.append(backups)
        verdicts += one_law(folder, chosen, frame, backups)
    folder.table("rounds", pandas.concat(rounds))
    folder.table("degrees", pandas.concat(degrees))
    folder.extra = {"setting": setting.__dict__, "low_oda_every": low_every, "seeds": [SEED]}
    folder.close(verdicts)
    return verdicts


def one_law(
    folder: ResultFolder, setting: Setting, rounds: pandas.DataFrame, degrees: pandas.DataFrame
) -> list[Verdict]:
    """Figures and verdicts for one law of popularity; those of uniform carry the paper's plain numbers."""
    law = setting.popularity
    provenance = (
        f"{setting.nodes} nodes, {setting.topics} topics, {setting.rounds} rounds, {law}, seed {SEED}"
    )
    request = folder.request
    for figure in all_figures(rounds, degrees, provenance):
        if request.wants(figure.id.removeprefix("fig")):
            folder.figure(figure if law == "uniform" else replace(figure, id=f"{figure.id}-{law}"))
    claims = [c for c in CLAIMS if law == "uniform" or c.id not in UNIFORM_ONLY]
    if law != "uniform":
        claims = [replace(c, id=f"{c.id}-{law}") for c in claims]
    return judge(claims, Data(rounds, degrees, setting.nodes, request.scale == "full"), provenance)
