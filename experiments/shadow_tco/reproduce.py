"""`testbed reproduce shadow-tco`: tables, figures 2 to 8, verdicts."""

from __future__ import annotations

from dataclasses import replace

import pandas

from experiments.shadow_tco.claims import CLAIMS, UNIFORM_ONLY, Data
from experiments.shadow_tco.computed import computed_points, law_point
from experiments.shadow_tco.figures import all_figures
from experiments.shadow_tco.workload import Popularity, Setting
from testbed.figures.reproduction import Request, ResultFolder
from testbed.figures.verdict import Claim, Verdict, judge, undecided
from testbed.sweep.tables import computed

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
    """A point of a sweep per law of popularity; the claims about a law that failed stay open."""
    whole = all(request.wants(figure) for figure in COMPUTED)
    folder = ResultFolder(request, whole=whole, figure_of=figure_of)
    setting, low_every = SCALES[request.scale]
    laws = {law: replace(setting, popularity=law) for law in POPULARITIES}
    wanted = {str(law): law_point(one, SEED, ALL_SYSTEMS, low_every) for law, one in laws.items()}
    result = computed_points(request, folder.path, "laws", wanted)
    rounds, degrees = (computed(result.folder, result.done, name) for name in ("rounds", "degrees"))
    verdicts = []
    for law, chosen in laws.items():
        if law in rounds:
            verdicts += one_law(folder, chosen, rounds[law], degrees[law])
        else:
            verdicts += undecided(claims_of(law), [law], provenance_of(chosen))
    for name, parts in (("rounds", rounds), ("degrees", degrees)):
        if parts:
            folder.table(name, pandas.concat(parts.values()))
    folder.extra = {
        "setting": setting.__dict__, "low_oda_every": low_every, "seeds": [SEED],
        "failed": [law for law in laws if law not in rounds],
    }  # fmt: skip
    folder.close(verdicts)
    return verdicts


def figure_of(id_: str) -> str:
    """fig6-zipf belongs to 6"""
    return id_.removeprefix("fig").partition("-")[0]


def one_law(
    folder: ResultFolder, setting: Setting, rounds: pandas.DataFrame, degrees: pandas.DataFrame
) -> list[Verdict]:
    """Figures and verdicts for one law of popularity; those of uniform carry the paper's plain numbers."""
    law, provenance, request = setting.popularity, provenance_of(setting), folder.request
    for figure in all_figures(rounds, degrees, provenance):
        if request.wants(figure.id.removeprefix("fig")):
            folder.figure(figure if law == "uniform" else replace(figure, id=f"{figure.id}-{law}"))
    return judge(claims_of(law), Data(rounds, degrees, setting.nodes, request.scale == "full"), provenance)


def claims_of(law: Popularity) -> list[Claim[Data]]:
    if law == "uniform":
        return CLAIMS
    return [replace(c, id=f"{c.id}-{law}") for c in CLAIMS if c.id not in UNIFORM_ONLY]


def provenance_of(setting: Setting) -> str:
    size = f"{setting.nodes} nodes, {setting.topics} topics, {setting.rounds} rounds"
    return f"{size}, {setting.popularity}, seed {SEED}"
