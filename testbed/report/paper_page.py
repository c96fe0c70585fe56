"""The page of one paper's reproduction: each figure with what the paper states, verdicts, the command."""

from __future__ import annotations

import json
import os.path
import re
from html import escape
from pathlib import Path
from typing import Any

import pandas

from testbed.errors import InputError
from testbed.report.html_table import Outcome, Prose, html_table
from testbed.report.page_frame import (
    Section,
    badge,
    badges,
    command,
    facts,
    figure,
    frame,
    instant,
    notice,
    page,
    verdict_bar,
)
from testbed.reproduction.figures.inside import read_inside, without_inside
from testbed.reproduction.verdict import Verdict, read_verdicts

OUTCOMES = ("pass", "fail", "unknown")
NO_CLAIM = '<p class="soft">No claim of the paper is judged by this figure.</p>'
NO_FIGURE = {
    "app.": "Stated in the appendix, without one figure",
    "text": "Stated in the text, without a figure",
}
CLAIM_COLUMNS = {
    "claim": "claim", "figure": "figure", "verdict": "verdict", "paper": "the paper", "here": "here",
    "why": "why",
}  # fmt: skip


def paper_page(folder: Path) -> str:
    """`folder` is results/<paper>/<scale>."""
    verdicts = verdicts_of(folder)
    manifest = manifest_of(folder)
    title = title_of(folder, manifest)
    common = common_reason(verdicts)
    figures = [_figure_section(n, folder, verdicts, manifest, common) for n in numbers(folder, verdicts)]
    sections = [
        Section("claims", "All claims", _claim_table(verdicts, common), "Claims"),
        *figures,
        Section("repeat", "Repeat it", _repeat(manifest), "Repeat"),
    ]
    foot = "Ours beside the paper's. This page is one file: it needs no network and no server."
    return page(title, frame("Reproduction", title, _intro(verdicts, manifest, common), sections, foot))


def title_of(folder: Path, manifest: dict[str, Any]) -> str:
    """The folder is <scale>, <scale>-<engine> or <scale>-<part>."""
    scale, _, rest = folder.name.partition("-")
    paper = manifest.get("paper", folder.parent.name.replace("_", "-"))
    return f"{paper}, {scale} scale" + (f", {rest.replace('-', ', ')}" if rest else "")


def verdicts_of(folder: Path) -> list[Verdict]:
    path = folder / "verdicts.json"
    if not path.exists():
        raise InputError("no verdicts here", file=folder, hint="testbed reproduce PAPER makes them")
    try:
        return read_verdicts(path)
    except ValueError as error:
        raise InputError(
            f"these verdicts cannot be read: {error}",
            file=path,
            hint="testbed reproduce PAPER makes them again",
        ) from error


def manifest_of(folder: Path) -> dict[str, Any]:
    """{} when the reproduction did not finish."""
    try:
        found = json.loads((folder / "manifest.json").read_bytes())
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def common_reason(verdicts: list[Verdict]) -> str:
    """What all reasons end with: said once instead of in every row."""
    ends = {v.reason.rpartition("; ")[2] for v in verdicts}
    return ends.pop() if len(ends) == 1 and len(verdicts) > 1 else ""


def why(verdict: Verdict, common: str) -> str:
    return verdict.reason.removesuffix(common).removesuffix("; ") if common else verdict.reason


def _intro(verdicts: list[Verdict], manifest: dict[str, Any], common: str) -> str:
    counts = {name: sum(v.outcome == name for v in verdicts) for name in OUTCOMES}
    marks = badges(badge(k, f"{n} {k}") for k, n in counts.items() if n)
    if not manifest:
        gone = notice("<p>This reproduction did not finish: it has no manifest.</p>", "bad")
        return marks + verdict_bar(counts) + gone
    seeds = manifest.get("seeds", "")
    versions = manifest.get("versions", {})
    changed = " with uncommitted changes" if manifest.get("dirty") else ""
    listed = [
        ("setting", common),
        ("engine", str(manifest.get("engine", ""))),
        ("seeds", ", ".join(map(str, seeds)) if isinstance(seeds, list) else str(seeds)),
        ("commit", f"{manifest.get('commit', '')[:12]}{changed}"),
        ("made", instant(manifest.get("started", ""))),
        ("versions", ", ".join(f"{k} {v}" for k, v in versions.items())),
    ]
    return marks + verdict_bar(counts) + facts(listed) + command(manifest.get("command", ""))


def _repeat(manifest: dict[str, Any]) -> str:
    return command(manifest["command"]) if manifest.get("command") else ""


def _claim_table(verdicts: list[Verdict], common: str) -> str:
    if not verdicts:
        return '<p class="empty">No claim was judged.</p>'
    rows = [
        {
            "claim": v.claim,
            "figure": v.figure,
            "verdict": Outcome(v.outcome),
            "paper": Prose(f"{v.statement}: {v.stated} ({v.source})"),
            "here": Prose(v.measured) if v.measured else None,
            "why": Prose(why(v, common)),
        }
        for v in verdicts
    ]
    return html_table(pandas.DataFrame(rows), "Claims", CLAIM_COLUMNS)


def numbers(folder: Path, verdicts: list[Verdict]) -> list[str]:
    """Every figure that was drawn or that a claim is about, in the paper's order; then what has no figure."""
    drawn = {path.stem.removeprefix("fig") for path in (folder / "figures").glob("*.svg")}
    claimed = {number for v in verdicts for number in figures_of(v)}
    return sorted(drawn | claimed, key=lambda n: (n not in drawn and not n[:1].isdigit(), _order(n)))


def drawing_of(folder: Path, number: str) -> Path:
    named = folder / "figures" / f"{number}.svg"
    return named if named.exists() else folder / "figures" / f"fig{number}.svg"


def figures_of(verdict: Verdict) -> list[str]:
    return [part for part in re.split(r"[,\s]+", verdict.figure) if part]


def shown_with(verdict: Verdict, folder: Path) -> list[str]:
    """The figures it is about; S5-zipf stands beside figure 5-zipf where there is one."""
    variant = verdict.claim.partition("-")[2]
    own = {n: f"{n}-{variant}" for n in figures_of(verdict) if variant}
    return [own[n] if n in own and drawing_of(folder, own[n]).exists() else n for n in figures_of(verdict)]


def _order(number: str) -> tuple[int, int, str]:
    """Numbered figures first."""
    found = re.match(r"\d+", number)
    return (0, int(found[0]), number) if found else (1, 0, number)


def _figure_section(
    number: str, folder: Path, verdicts: list[Verdict], manifest: dict[str, Any], common: str
) -> Section:
    about = [v for v in verdicts if number in shown_with(v, folder)]
    numbered = number[:1].isdigit()
    path = drawing_of(folder, number)
    told = described(path)
    title = told.get("title") or (f"Figure {number}" if numbered else NO_FIGURE.get(number, number))
    if path.exists() and number not in title:
        variant = number.partition("-")[2] if numbered else number
        title += f" ({variant or number})"  # two engines, or two laws, draw the same figure
    picture = _drawing(path, told, about) if path.exists() else _not_drawn(numbered)
    claims = f'<div class="claims">{"".join(_claim(v, common) for v in about)}</div>' if about else NO_CLAIM
    both = f'<div class="pair">{picture}{claims}</div>' if path.exists() and about else picture + claims
    again = _figure_command(number, manifest) if numbered else ""
    short = f"Fig. {number}" if numbered else number.rstrip(".")
    return Section(f"figure-{escape(number)}", title, both + again, short)


def _not_drawn(numbered: bool) -> str:
    return '<p class="empty">This figure was not drawn: its runs were not made.</p>' if numbered else ""


def described(path: Path) -> dict[str, Any]:
    """The figure in words and numbers; {} for one that has none inside."""
    return read_inside(path) if path.exists() else {}


def _drawing(path: Path, told: dict[str, Any], about: list[Verdict]) -> str:
    text = told.get("text") or "; ".join(f"{v.claim} {v.outcome}: {v.statement}" for v in about) or path.stem
    drawing = without_inside(path.read_text(encoding="utf-8"))
    drawing = drawing[drawing.index("<svg") :].replace(
        "<svg", f'<svg role="img" aria-label="{escape(text)}"', 1
    )
    content = f'<div class="paper">{_private_ids(drawing, path.stem)}</div>{_numbers(told)}'
    where = f"{os.path.basename(path)}; {told.get('provenance', '')}".removesuffix("; ")
    return figure(content, "", text, where)  # its title is the section's


def _numbers(told: dict[str, Any]) -> str:
    """The series and the paper's stated values as a table."""
    rows = [
        {"series": series.get("label", ""), **dict(zip(("x", "y", "low", "high"), point, strict=False))}
        for series in told.get("series", [])
        for point in series.get("points", [])
    ]
    rows += [
        {"series": s["label"], "y": s.get("mean"), "low": s.get("min"), "high": s.get("max"), "n": s.get("n")}
        for s in told.get("series", [])
        if "points" not in s
    ]
    rows += [{"series": f"paper: {s['label']}", "x": s["x"], "y": s["y"]} for s in told.get("stated", [])]
    if not rows:
        return ""
    headings = {
        "series": "series", "x": told.get("x", "x"), "y": told.get("y", "y"), "low": "low", "high": "high",
        "n": "points",
    }  # fmt: skip
    table = html_table(pandas.DataFrame(rows), "", headings)
    return f"<details><summary>the numbers (of many points: mean, low and high)</summary>{table}</details>"


def _claim(verdict: Verdict, common: str) -> str:
    listed = [
        ("the paper", f"{verdict.stated} (section {verdict.source})"),
        ("here", verdict.measured or "not measured"),
        ("why", why(verdict, common)),
    ]
    return (
        f'<div class="claim is-{verdict.outcome}"><h4><span>{escape(verdict.claim)}: '
        f"{escape(verdict.statement)}</span>{badge(verdict.outcome)}</h4>{facts(listed)}</div>"
    )


def _figure_command(number: str, manifest: dict[str, Any]) -> str:
    """Only what the experiment would understand."""
    from testbed.reproduction.papers import study_of

    base = manifest.get("command", "")
    try:
        known = study_of(manifest.get("paper", ""), [number.partition("-")[0]])
    except Exception:  # an older paper, or a figure that is made with another one
        return ""
    return command(f"{base} --figure {number.partition('-')[0]}") if known and "--figure" not in base else ""


def _private_ids(drawing: str, name: str) -> str:
    """Ids of several drawings on one page must not meet."""
    for before in ('id="', 'href="#', "url(#"):
        drawing = drawing.replace(before, f"{before}{name}-")
    return drawing
