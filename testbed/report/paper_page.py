"""The page of one paper's reproduction: figures, what the paper states, verdicts, how to repeat it."""

from __future__ import annotations

import json
from html import escape
from pathlib import Path

from testbed.errors import InputError
from testbed.figures.verdict import Verdict, read_verdicts
from testbed.report.page import badge, figure, page


def paper_page(folder: Path) -> str:
    """`folder` is results/<paper>/<scale>."""
    if not (folder / "verdicts.json").exists():
        raise InputError("no verdicts here", file=folder, hint="testbed reproduce PAPER makes them")
    manifest = (
        json.loads((folder / "manifest.json").read_bytes()) if (folder / "manifest.json").exists() else {}
    )
    verdicts = read_verdicts(folder / "verdicts.json")
    title = f"{manifest.get('paper', folder.parent.name)}, {manifest.get('scale', folder.name)} scale"
    counts = {name: sum(v.outcome == name for v in verdicts) for name in ("pass", "fail", "unknown")}
    parts = [
        f"<h1>{escape(title)}</h1>",
        "<p>" + " ".join(badge(k, f"{n} {k}") for k, n in counts.items()) + "</p>",
    ]
    if not manifest:
        parts.append("<p>This reproduction did not finish: it has no manifest.</p>")
    else:
        parts.append(f"<p>Repeat it: <code>{escape(manifest['command'])}</code></p>")
        dirty = " with changes" if manifest.get("dirty") else ""
        parts.append(
            f'<p class="soft">commit {escape(manifest["commit"][:12])}{dirty}, {manifest["started"]}</p>'
        )
    parts += [_verdict_table(verdicts), _figures(folder, verdicts)]
    return page(title, "".join(parts))


def _verdict_table(verdicts: list[Verdict]) -> str:
    head = "".join(
        f'<th scope="col"><button type="button">{h}</button></th>'
        for h in ("claim", "figure", "verdict", "the paper", "here", "why")
    )
    rows = "".join(
        f"<tr><td>{escape(v.claim)}</td><td>{escape(v.figure)}</td><td>{badge(v.outcome)}</td>"
        f'<td class="wrap">{escape(v.statement)}: {escape(v.stated)} '
        f'<span class="soft">({escape(v.source)})</span></td>'
        f'<td class="wrap">{escape(v.measured)}</td><td class="wrap">{escape(v.reason)}</td></tr>'
        for v in verdicts
    )
    return (
        '<h2>Claims</h2><div class="table">'
        '<input type="search" placeholder="filter claims" aria-label="filter claims">'
        f'<div class="scroll"><table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div></div>'
    )


def _figures(folder: Path, verdicts: list[Verdict]) -> str:
    parts = []
    for path in sorted((folder / "figures").glob("*.svg")):
        number = path.stem.removeprefix("fig")
        about = [v for v in verdicts if number in v.figure.replace(" ", "").split(",")]
        text = "; ".join(f"{v.claim} {v.outcome}: {v.statement}" for v in about) or path.stem
        drawing = path.read_text()
        drawing = drawing[drawing.index("<svg") :].replace(
            "<svg", f'<svg role="img" aria-label="{escape(text)}"', 1
        )
        parts.append(
            figure(f'<div class="paper">{_private_ids(drawing, path.stem)}</div>', f"Figure {number}. {text}")
        )
    return f'<h2>Figures</h2><div class="figures">{"".join(parts)}</div>' if parts else ""


def _private_ids(drawing: str, name: str) -> str:
    """Ids of several drawings on one page must not meet."""
    for before in ('id="', 'href="#', "url(#"):
        drawing = drawing.replace(before, f"{before}{name}-")
    return drawing
