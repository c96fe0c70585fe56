"""`testbed reproduce shadow-tco`: tables, figures 2 to 8, verdicts."""

from __future__ import annotations

import pandas

from experiments.shadow_tco.claims import CLAIMS, Data
from experiments.shadow_tco.figures import all_figures
from experiments.shadow_tco.rounds import play
from experiments.shadow_tco.workload import Popularity, Setting
from testbed.figures.reproduction import Request, ResultFolder
from testbed.figures.verdict import Verdict, judge

ALL_SYSTEMS = ["shadow-pd-1", "shadow-pd-2", "shadow-pd-3", "shadow-pd-4", "shadow-greedy", "naive"]
FIGURES = ("2", "3", "4", "5", "6", "7", "8")
POPULARITIES: tuple[Popularity, ...] = ("uniform", "zipf", "exponential")
SCALES = {
    "smoke": (Setting(nodes=150, topics=30, smallest=3, largest=15, rounds=60), 10),
    "full": (Setting(), 20),
}


def reproduce(request: Request) -> list[Verdict]:
    folder = ResultFolder(request)
    setting, low_every = SCALES[request.scale]
    rounds, degrees = [], []
    for popularity in POPULARITIES:
        wanted = ALL_SYSTEMS if popularity == "uniform" else ["shadow-pd-3", "naive"]
        chosen = Setting(**{**setting.__dict__, "popularity": popularity})
        frame, backups = play(chosen, 1, wanted, low_every, request.report)
        rounds.append(frame)
        degrees.append(backups)
    all_rounds, all_degrees = pandas.concat(rounds), pandas.concat(degrees)
    folder.table("rounds", all_rounds)
    folder.table("degrees", all_degrees)
    uniform = all_rounds[all_rounds.popularity == "uniform"]
    backups = all_degrees[all_degrees.popularity == "uniform"]
    provenance = f"{setting.nodes} nodes, {setting.topics} topics, {setting.rounds} rounds, uniform, seed 1"
    for figure in all_figures(uniform, backups, provenance):
        if request.wants(figure.id.removeprefix("fig")):
            folder.figure(figure)
    verdicts = judge(CLAIMS, Data(uniform, backups, setting.nodes, request.scale == "full"), provenance)
    folder.extra = {"setting": setting.__dict__, "low_oda_every": low_every, "seeds": [1]}
    folder.close(verdicts)
    return verdicts
