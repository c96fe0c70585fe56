"""One look for all figures, as SVG and PNG, with the paper's stated values drawn in.

Colours are Okabe and Ito's, which people with colour blindness can tell apart, and every line also
has its own marker. Files are the same bytes for the same data: no dates, fixed ids.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#F0E442")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")


@dataclass(frozen=True)
class Series:
    label: str
    x: Sequence[float]
    y: Sequence[float]
    low: Sequence[float] = ()
    high: Sequence[float] = ()
    style: str = "line"  # line, points or steps


@dataclass(frozen=True)
class Stated:
    """A value the paper gives in its text: a horizontal line over all x, or a point at one."""

    label: str
    y: float
    x: float | None = None


@dataclass(frozen=True)
class Figure:
    id: str  # file name without ending
    title: str
    x_label: str
    y_label: str
    series: Sequence[Series]
    stated: Sequence[Stated] = ()
    provenance: str = ""  # engine, clock, seeds: printed under the figure
    log_x: bool = False
    log_y: bool = False
    ticks: dict[float, str] = field(default_factory=dict)


def draw(figure: Figure, folder: Path) -> list[Path]:
    """Writes <id>.svg and <id>.png; answers their paths."""
    import matplotlib

    matplotlib.use("Agg")
    matplotlib.rcParams["svg.hashsalt"] = figure.id
    from matplotlib import pyplot

    canvas, axes = pyplot.subplots(figsize=(6.4, 4.2), layout="constrained")
    for at, series in enumerate(figure.series):
        _draw_series(axes, series, COLOURS[at % len(COLOURS)], MARKERS[at % len(MARKERS)])
    for value in figure.stated:
        _draw_stated(axes, value)
    _label(axes, figure)
    if figure.provenance:
        canvas.supxlabel(figure.provenance, fontsize=7, color="0.4")
    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / f"{figure.id}.svg", folder / f"{figure.id}.png"]
    canvas.savefig(paths[0], metadata={"Date": None})
    canvas.savefig(paths[1], dpi=120, metadata={"Software": None})
    pyplot.close(canvas)
    return paths


def _draw_series(axes: Any, series: Series, colour: str, marker: str) -> None:
    if series.style == "points":
        axes.plot(series.x, series.y, ".", color=colour, label=series.label, markersize=3, alpha=0.5)
    elif series.style == "steps":
        axes.step(series.x, series.y, where="post", color=colour, label=series.label, linewidth=1.2)
    else:
        axes.plot(series.x, series.y, marker=marker, color=colour, label=series.label, markersize=5)
    if len(series.low):
        axes.fill_between(series.x, series.low, series.high, color=colour, alpha=0.15, linewidth=0)


def _draw_stated(axes: Any, value: Stated) -> None:
    if value.x is None:
        axes.axhline(value.y, color="0.35", linestyle=":", linewidth=1)
        axes.annotate(
            value.label,
            (1.0, value.y),
            xycoords=("axes fraction", "data"),
            ha="right",
            va="bottom",
            fontsize=7,
            color="0.35",
        )
    else:
        axes.plot([value.x], [value.y], marker="+", color="0.2", markersize=11, linestyle="none")
        axes.annotate(value.label, (value.x, value.y), fontsize=7, color="0.2", ha="right", va="bottom")


def _label(axes: Any, figure: Figure) -> None:
    axes.set_title(figure.title, fontsize=10)
    axes.set_xlabel(figure.x_label)
    axes.set_ylabel(figure.y_label)
    if figure.log_x:
        axes.set_xscale("log")
    if figure.log_y:
        axes.set_yscale("log")
    if figure.ticks:
        axes.set_xticks(list(figure.ticks), list(figure.ticks.values()))
    axes.grid(alpha=0.25)
    if figure.series:
        axes.legend(fontsize=8, frameon=False)
