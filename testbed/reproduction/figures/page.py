"""Small multiples: several figures on one page, as a paper prints them; a legend where series change."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from textwrap import fill
from typing import Any

from testbed.reproduction.figures.describe import description
from testbed.reproduction.figures.inside import write_inside
from testbed.reproduction.figures.plot import (
    CLEAR,
    INK,
    LOOK,
    NOTE_WIDTH,
    SOFT,
    Figure,
    draw_into,
    draw_stated,
    footnote,
    handles_of,
)

PANEL = (3.9, 2.9)  # inches
PANEL_TITLE_WIDTH = 52  # characters


@dataclass(frozen=True)
class Page:
    id: str
    title: str
    panels: Sequence[Figure]
    provenance: str = ""
    columns: int = 2


def draw_page(page: Page, folder: Path) -> Path:
    """Writes <id>.svg, with all panels in words and numbers inside; answers its path."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{page.id}.svg"
    columns = min(page.columns, len(page.panels))
    rows = -(-len(page.panels) // columns)
    look = {**LOOK, "font.size": 8, "lines.linewidth": 1.4, "legend.fontsize": 7, "svg.hashsalt": page.id}
    with matplotlib.rc_context(look):
        size = (PANEL[0] * columns, PANEL[1] * rows + 0.5)
        canvas, grid = pyplot.subplots(rows, columns, figsize=size, layout="constrained", squeeze=False)
        for axes in grid.flat[len(page.panels) :]:
            axes.set_axis_off()
        for axes, panel in zip(grid.flat, page.panels, strict=False):
            draw_into(axes, panel, CLEAR / 2)
            axes.set_title(fill(panel.title, PANEL_TITLE_WIDTH), fontsize=8, loc="left", color=INK)
            draw_stated(canvas, axes, panel.stated)
        _legends(list(grid.flat), page.panels)
        canvas.suptitle(page.title, x=0.01, ha="left", fontsize=10.5, fontweight="bold", color=INK)
        note = footnote(
            Figure("", "", "", "", [s for p in page.panels for s in p.series], (), page.provenance)
        )
        canvas.supxlabel(fill(note, NOTE_WIDTH), x=0.01, ha="left", fontsize=7, color=SOFT)
        canvas.savefig(path, metadata={"Date": None})
        pyplot.close(canvas)
    write_inside(path, page_description(page))
    return path


def _legends(grid: Sequence[Any], panels: Sequence[Figure]) -> None:
    """Panels with the same series as those before need none of their own."""
    shown: set[tuple[str, ...]] = set()
    for axes, panel in zip(grid, panels, strict=False):
        labels = tuple(series.label for series in panel.series)
        if labels not in shown:
            shown.add(labels)
            axes.legend(*handles_of(axes, panel), loc="best", handlelength=1.8)


def page_description(page: Page) -> dict[str, Any]:
    """As of one figure, so that whoever reads drawings can read this: series are named after their panels."""
    told = [description(panel) for panel in page.panels]
    return {
        "id": page.id, "title": page.title, "x": "x", "y": "y",
        "text": " ".join(f"{one['title']}. {one['text']}" for one in told),
        "series": [_named(one, s) for one in told for s in one["series"]],
        "stated": [_named(one, s) for one in told for s in one["stated"]],
        "provenance": page.provenance, "panels": told,
    }  # fmt: skip


def _named(figure: dict[str, Any], part: dict[str, Any]) -> dict[str, Any]:
    return {**part, "label": f"{figure['id'].removeprefix('fig')}: {part['label']}"}
