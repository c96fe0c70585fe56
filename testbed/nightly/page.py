"""results/nightly/index.html: tonight, measure by measure, with the nights before."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from html import escape
from pathlib import Path

import pandas

from testbed.nightly.history import Row
from testbed.nightly.judge import Comparison, Outcome
from testbed.nightly.night import Night, Ran
from testbed.report.html_table import Link, Prose, html_table
from testbed.report.html_table import Outcome as Mark
from testbed.report.page_frame import Section, badge, badges, figure, frame, notice, page
from testbed.report.svg import COLOURS, Axis, Chart

COLUMNS = {
    "outcome": "verdict", "reproduction": "reproduction", "measure": "measure", "before": "before",
    "now": "now", "low": "difference, low", "high": "high", "seeds": "seeds", "nights": "nights",
    "reason": "why",
}  # fmt: skip
ORDER: tuple[Outcome, ...] = ("worse", "missing", "unknown", "better", "first", "same")
LOOK = {
    "worse": "fail",
    "missing": "fail",
    "unknown": "unknown",
    "better": "pass",
    "first": "unknown",
    "same": "pass",
}
FIGURES_SHOWN = 12
NIGHTS_SHOWN = 30


def nightly_page(night: Night, history: Sequence[Row]) -> str:
    counts = Counter(c.outcome for c in night.comparisons)
    said = ", ".join(f"{counts[name]} {name}" for name in ORDER if counts[name]) or "nothing was compared"
    mark = badge("fail" if night.code else "pass", "something is wrong" if night.code else "all well")
    sections = [
        Section("changed", "What changed", _courses(night.comparisons, history)),
        Section("measures", "Measures", _comparisons(night.comparisons)),
        Section("ran", "What ran", _ran(night.ran)),
    ]
    undone = [r for r in night.ran if r.state != "done"]
    left = badge("unknown", f"{len(undone)} of {len(night.ran)} not done") if undone else ""
    intro = badges([mark, left]) + f"<p>{when(night.id)}: {said}.</p>"
    if undone:
        items = "".join(f"<li>{escape(r.name)}: {r.state}; {escape(r.detail)}</li>" for r in undone)
        intro += notice(f"<ul>{items}</ul>", "bad" if any(r.state == "failed" for r in undone) else "")
    foot = (
        "The interval is of the difference to the last nights, 99 %, over seeds and nights. "
        "Every number of every night is in history.jsonl."
    )
    return page("Nightly runs", frame("Every night", "Nightly runs", intro, sections, foot))


def when(night: str) -> str:
    try:
        return f"Night of {datetime.strptime(night, '%Y%m%dT%H%M%S'):%Y-%m-%d %H:%M} UTC"
    except ValueError:
        return f"Night {escape(night)}"


def _ran(ran: Sequence[Ran]) -> str:
    rows = []
    for r in ran:
        main, *parts = r.folders or ("",)
        row = {
            "name": Link(r.name, f"{main}/report.html") if main else r.name,
            "state": r.state,
            "seconds": round(r.seconds) if r.seconds else None,
            "invariants": Prose("; ".join(r.invariants) or ("none failed" if r.state == "done" else "")),
            "detail": Prose(r.detail),
        }
        rows.append(row)
        for part in parts:  # kept apart from the main results, and a page of its own
            link = Link(f"{r.name}: {Path(part).name}", f"{part}/report.html")
            rows.append({"name": link, "state": "part of it", "invariants": Prose(""), "detail": Prose("")})
    headings = {
        "name": "reproduction",
        "state": "state",
        "seconds": "s",
        "invariants": "invariants",
        "detail": "what was said",
    }
    return html_table(pandas.DataFrame(rows), "", headings)


def _comparisons(comparisons: Sequence[Comparison]) -> str:
    if not comparisons:
        return ""
    ordered = sorted(comparisons, key=lambda c: ORDER.index(c.outcome))
    found = pandas.DataFrame(
        [
            c.__dict__
            | {"outcome": Mark(LOOK[c.outcome], c.outcome)}
            | {"measure": Prose(c.measure), "reason": Prose(c.reason)}
            for c in ordered
        ]
    )
    return html_table(found, "Against the last nights", COLUMNS)


def _courses(comparisons: Sequence[Comparison], history: Sequence[Row]) -> str:
    """The course over the nights of what changed."""
    changed = [c for c in comparisons if c.outcome in ("worse", "better") and "claim" not in c.reason]
    drawings = [_course(c, history) for c in changed[:FIGURES_SHOWN]]
    return f'<div class="figures">{"".join(drawings)}</div>' if drawings else ""


def _course(about: Comparison, history: Sequence[Row]) -> str:
    rows = [r for r in history if (r.reproduction, r.measure) == (about.reproduction, about.measure)]
    nights = sorted({r.night for r in rows})[-NIGHTS_SHOWN:]
    values = [[r.value for r in rows if r.night == night] for night in nights]
    means = [math.fsum(v) / len(v) for v in values]
    text = f"{about.outcome}: {about.before:.6g} before, {about.now:.6g} now; {len(nights)} nights."
    top = max((v for one in values for v in one), default=1.0) or 1.0
    chart = Chart(about.measure, text, Axis("night", 1, max(2, len(nights))), Axis("mean over seeds", 0, top))
    chart.line([float(i) for i in range(1, len(means) + 1)], means, COLOURS[0])
    for i, one in enumerate(values, 1):
        for value in one:
            chart.dot(i, value, COLOURS[0], f"{nights[i - 1]}: {value:.6g}")
    return figure(chart.svg(), f"{about.measure}: {about.outcome}", text, about.reproduction)
