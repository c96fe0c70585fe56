"""The index over all results: papers first, then runs, newest first."""

from __future__ import annotations

import os
from html import escape
from pathlib import Path

import pandas

from testbed.figures.verdict import read_verdicts
from testbed.report.html_table import Link, html_table
from testbed.report.page import badge, page
from testbed.runfolder import RunFolder


def papers_of(results: Path) -> list[Path]:
    return sorted(p.parent for p in results.glob("*/*/verdicts.json") if (p.parent / "figures").is_dir())


def runs_of(results: Path) -> list[Path]:
    found = [p.parent for p in results.glob("*/*/manifest.json") if (p.parent / "plan.json").exists()]
    return sorted((p for p in found if not p.is_symlink()), key=lambda p: p.name, reverse=True)


def index_page(results: Path) -> str:
    parts = ["<h1>Results</h1>"]
    if (results / "nightly" / "index.html").exists():
        parts.append('<p><a href="nightly/index.html">Nightly runs</a></p>')
    papers = papers_of(results)
    if papers:
        parts.append("<h2>Papers</h2><ul>" + "".join(_paper(p, results) for p in papers) + "</ul>")
    rows = [_run_row(p, results) for p in runs_of(results)]
    if rows:
        headings = {
            c: c for c in ("run", "experiment", "engine", "clock", "seed", "status", "fidelity", "started")
        }
        parts.append("<h2>Runs</h2>" + html_table(pandas.DataFrame(rows), "Newest first", headings))
    if not papers and not rows:
        parts.append(
            "<p>No results yet. <code>testbed deploy topologies/quickstart.yaml</code> makes some.</p>"
        )
    return page("Results", "".join(parts))


def _paper(folder: Path, results: Path) -> str:
    verdicts = read_verdicts(folder / "verdicts.json")
    counts = {name: sum(v.outcome == name for v in verdicts) for name in ("pass", "fail", "unknown")}
    where = os.path.relpath(folder / "report.html", results)
    marks = " ".join(badge(k, f"{n} {k}") for k, n in counts.items() if n)
    return (
        f'<li><a href="{escape(where)}">{escape(folder.parent.name)} ({escape(folder.name)})</a> {marks}</li>'
    )


def _run_row(path: Path, results: Path) -> dict[str, object]:
    """A run whose page was not written yet has no link."""
    folder = RunFolder(path)
    where = os.path.relpath(folder.report, results)
    manifest, fidelity = folder.read_manifest(), folder.read_fidelity()
    return {
        "run": Link(manifest.run, where) if folder.report.exists() else manifest.run,
        "experiment": manifest.name,
        "engine": manifest.engine,
        "clock": manifest.clock,
        "seed": manifest.seed,
        "status": manifest.status,
        "fidelity": fidelity.verdict if fidelity is not None else "unknown",
        "started": manifest.started,
    }
