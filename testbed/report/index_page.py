"""The index over all results: papers first, then runs, newest first."""

from __future__ import annotations

import os
from html import escape
from pathlib import Path

import pandas

from testbed.errors import TestbedError
from testbed.report.html_table import Link, Outcome, html_table
from testbed.report.page_frame import Section, badge, badges, command, frame, instant, page, verdict_bar
from testbed.report.paper_page import OUTCOMES, manifest_of, verdicts_of
from testbed.report.run_data import read_checks
from testbed.report.run_page import checks_outcome
from testbed.run.folder import RunFolder

RUN_COLUMNS = ("run", "experiment", "engine", "clock", "seed", "status", "fidelity", "checks", "started")


def papers_of(results: Path) -> list[Path]:
    return sorted(p.parent for p in results.glob("*/*/verdicts.json") if (p.parent / "figures").is_dir())


def runs_of(results: Path) -> list[Path]:
    found = [p.parent for p in results.glob("*/*/manifest.json") if (p.parent / "plan.json").exists()]
    return sorted((p for p in found if not p.is_symlink()), key=lambda p: p.name, reverse=True)


def index_page(results: Path) -> str:
    papers = "".join(_paper(p, results) for p in papers_of(results))
    rows = [_run_row(p, results) for p in runs_of(results)]
    nightly = (results / "nightly" / "index.html").exists()
    empty = "" if papers or rows or nightly else command("testbed deploy topologies/quickstart.yaml")
    sections = [
        Section("papers", "Papers", f'<div class="papers">{papers}</div>' if papers else ""),
        Section("nightly", "Every night", _nightly() if nightly else "", "Nightly"),
        Section("runs", "Runs", _runs(rows) if rows else ""),
        Section("empty", "Nothing yet", f"<p>No results yet. This makes some:</p>{empty}" if empty else ""),
    ]
    intro = '<p class="lead">Papers reproduced, with a verdict for each claim, and single runs.</p>'
    return page("Results", frame("Publish/subscribe testbed", "Results", intro, sections))


def _nightly() -> str:
    return '<p><a href="nightly/index.html">Nightly runs</a>: what got worse, better, or stayed the same.</p>'


def _runs(rows: list[dict[str, object]]) -> str:
    return html_table(pandas.DataFrame(rows), "Newest first", {c: c for c in RUN_COLUMNS})


def _paper(folder: Path, results: Path) -> str:
    """A tile; a folder whose verdicts are torn says so and does not hide the others."""
    name = f"{folder.parent.name.replace('_', '-')} ({folder.name})"
    try:
        verdicts = verdicts_of(folder)
    except TestbedError as error:
        told = f"{badge('unknown', 'cannot be read')}<p class='soft'>{escape(str(error).splitlines()[0])}</p>"
        return f'<div class="tile"><h3>{escape(name)}</h3>{told}</div>'
    counts = {outcome: sum(v.outcome == outcome for v in verdicts) for outcome in OUTCOMES}
    where = os.path.relpath(folder / "report.html", results)
    title = (
        f'<a href="{escape(where)}">{escape(name)}</a>' if (folder / "report.html").exists() else escape(name)
    )
    marks = badges(badge(k, f"{n} {k}") for k, n in counts.items() if n)
    manifest = manifest_of(folder)
    figures = len(list((folder / "figures").glob("*.svg")))
    made = f"{figures} figures, {len(verdicts)} claims; {instant(manifest.get('started', 'did not finish'))}"
    return (
        f'<div class="tile"><h3>{title}</h3>{verdict_bar(counts)}{marks}'
        f'<p class="soft">{escape(made)}</p></div>'
    )


def _run_row(path: Path, results: Path) -> dict[str, object]:
    """A run whose page was not written yet has no link; one that cannot be read has only its name."""
    folder = RunFolder(path)
    where = os.path.relpath(folder.report, results)
    try:
        manifest, fidelity = folder.read_manifest(), folder.read_fidelity()
    except (TestbedError, ValueError, OSError):
        return {
            "run": path.name,
            "experiment": path.parent.name,
            "status": Outcome("unknown", "cannot be read"),
        }
    state = {"done": "pass", "running": "unknown"}.get(manifest.status, "fail")
    return {
        "run": Link(manifest.run, where) if folder.report.exists() else manifest.run,
        "experiment": manifest.name,
        "engine": manifest.engine,
        "clock": manifest.clock,
        "seed": manifest.seed,
        "status": Outcome(state, manifest.status),
        "fidelity": Outcome(fidelity.verdict if fidelity is not None else "unknown"),
        "checks": _checks(folder),
        "started": instant(manifest.started),
    }


def _checks(folder: RunFolder) -> Outcome | None:
    found = [check["verdict"] for check in read_checks(folder.verdicts, [])]
    return Outcome(*checks_outcome(found)) if found else None
