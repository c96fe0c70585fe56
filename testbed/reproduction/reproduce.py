"""`testbed reproduce`: does what a study declares, part by part, and leaves its folders."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from testbed.errors import InputError
from testbed.reproduction.claim import judge, undecided
from testbed.reproduction.collect import Collector, Found, points_of
from testbed.reproduction.mistakes import all_are, told_as_the_papers
from testbed.reproduction.point import Point
from testbed.reproduction.request import Request
from testbed.reproduction.results import ResultFolder, folder_of, git, is_begun
from testbed.reproduction.rows import KeptRows
from testbed.reproduction.study import Ask, Case, Part, Study
from testbed.reproduction.verdict import Verdict
from testbed.reproduction.workshop import Workshop
from testbed.run.engine import choose
from testbed.sweep.wanted import resolved


def reproduce(study: Study, request: Request) -> list[Verdict]:
    """Every figure, or those named. What cannot run here is refused before anything is written."""
    study.check_figures(request.figures)
    asks = [(part, ask_of(part, request)) for part in study.parts if part.wanted(request)]
    if request.only_done:
        asks = [(part, ask) for part, ask in asks if is_begun(folder_of(ask.request, part.name))]
        if not asks:
            raise nothing_done(request)
    return [verdict for part, ask in asks for verdict in reproduce_part(study, part, ask)]


def nothing_done(request: Request) -> InputError:
    """Nothing is written then: verdicts about nothing would stand where somebody looks for results."""
    home = request.folder.parent
    begun = sorted(folder.name for folder in home.glob("*") if is_begun(folder))
    hint = f"{home} has {', '.join(begun)}" if begun else "leave --only-done out"
    return InputError(f"nothing of {request.paper} is done at this scale", file=request.folder, hint=hint)


def ask_of(part: Part[Any], request: Request) -> Ask[Any]:
    if part.only_engine and request.engine not in ("", part.only_engine):
        where = "the simulator" if part.only_engine == "simulate" else f"'{part.only_engine}'"
        raise InputError(
            f"the {part.name} study is run on {where} only, not on '{request.engine}'",
            hint=f"leave --engine out or say --engine {part.only_engine}",
        )
    figures = tuple(figure for figure in request.figures if figure in part.figures)
    engine = part.only_engine or request.engine
    scale = part.scales[request.scale]
    chosen = (engine,) if engine and part.measures else scale.engines
    engines = tuple(resolved(one, "")[0] for one in chosen)
    if len(engines) == 1 and not request.only_done:
        choose(engines[0], None)
    return Ask(replace(request, figures=figures, engine=engine), scale, engines)


def reproduce_part(study: Study, part: Part[Any], ask: Ask[Any]) -> list[Verdict]:
    request = ask.request
    with told_as_the_papers(study.name, "say its points"):
        groups = part.points(ask)
    for group in groups.values():
        all_are(Point, group, study.name, "its points")
    points = points_of(groups)
    folder = ResultFolder(request, part.name, set(part.figures) <= set(request.figures), part.figure_of)
    kept = KeptRows(folder.path, tuple(dict.fromkeys(tuple(point.labels) for point in points)))
    raw = (request.folder if part.shares_runs else folder.path) / "runs"
    shop = Workshop(raw, request, part.effort)
    collector = Collector(shop, kept, part.measures, ask.scale.analysed, git("rev-parse", "HEAD"))
    found = collector.collect(groups)
    folder.rows(found, kept, part.tables)
    with told_as_the_papers(study.name, "judge and draw"):
        cases = all_are(Case, part.cases(ask, found), study.name, "its cases")
        verdicts = [verdict for case in cases for verdict in _close(study, folder, case)]
        more = part.extra(ask)
    folder.extra = {
        "seeds": ask.seeds, **({"runs": len(found.measured)} if part.measures else {}),
        "planned": len(points), "failed": [str(point) for point in found.failed],
        "readings": {reading.id: reading.default for reading in study.readings}, **more,
    }  # fmt: skip
    folder.close(verdicts)
    return verdicts


def _close(study: Study, folder: ResultFolder, case: Case) -> list[Verdict]:
    """Tables and figures of what there is; claims that rest on what is not stay open."""
    for name, table in case.tables.items():
        folder.table(name, table)
    for figure in case.figures:
        if folder.asked(figure.id):
            folder.figure(figure)
    if case.rests_on:
        return undecided(case.claims, case.rests_on, case.provenance)
    return judge(case.claims, case.data, case.provenance, study.readings)


def seeds_told(found: Found) -> str:
    """How many seeds a point has: a number, or from the fewest to the most."""
    seeds: dict[tuple[Any, ...], set[int]] = {}
    for one in found.measured:
        labels = tuple(v for k, v in one.point.labels.items() if k != "seed")
        seeds.setdefault((one.point.set, *labels), set()).add(one.point.seed)
    counts = [len(own) for own in seeds.values()]
    fewest, most = min(counts), max(counts)
    return str(most) if fewest == most else f"{fewest} to {most}"
