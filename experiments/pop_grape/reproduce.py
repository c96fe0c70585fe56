"""`testbed reproduce pop-grape`: the runs of section 5, tables, figures, verdicts."""

from __future__ import annotations

from experiments.pop_grape.claims import CLAIMS, Data
from experiments.pop_grape.figures import PANELS, all_figures
from experiments.pop_grape.runs import run_all
from experiments.pop_grape.systems import SCALES
from testbed.errors import RunFailed
from testbed.figures.reproduction import Request, ResultFolder
from testbed.figures.verdict import Verdict, judge

FIGURES = (*PANELS, "5h", "6c")
DEFAULT_ENGINE = {"smoke": "guest", "full": "simulate"}


def reproduce(request: Request) -> list[Verdict]:
    folder = ResultFolder(request)
    scale = SCALES[request.scale]
    engine = request.engine or DEFAULT_ENGINE[request.scale]
    seeds = list(range(1, (request.seeds or scale.seeds) + 1))
    raw = folder.path / "runs"
    runs, moves = run_all(scale, engine, seeds, raw, "local[*]", request.report)
    if not len(runs):
        raise RunFailed("no run of the experiment succeeded", hint=f"the logs are under {raw}")
    folder.table("runs", runs)
    if len(moves):
        folder.table("relocations", moves)
    provenance = f"{engine} engine, {request.scale} scale, {len(seeds)} seed(s)"
    data = Data(runs, moves)
    for figure in all_figures(data, provenance):
        if request.wants(figure.id.removeprefix("fig")):
            folder.figure(figure)
    verdicts = judge(CLAIMS, data, provenance)
    folder.extra = {"engine": engine, "seeds": seeds, "runs": len(runs)}
    folder.close(verdicts)
    return verdicts
