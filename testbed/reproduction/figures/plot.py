"""One look for all figures, as SVG, with the paper's stated values drawn in.

Colours are Okabe and Ito's, which people with colour blindness can tell apart, and every series also has a
marker of its own, so that a grey print can be read. What the paper states is dark grey and dashed or hollow,
never a colour of ours. Files are the same bytes for the same data: no dates, fixed ids.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from textwrap import fill
from typing import Any, cast

from testbed.reproduction.figures.describe import description
from testbed.reproduction.figures.inside import write_inside

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#8C6D1F")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
INK, SOFT, GRID = "#1c1e21", "#5d646d", "#e3e6ea"
PAPER = "#3c4046"  # what the paper states
LABEL_GAP_PT = 9.5  # between two labels of stated values
MARKS_PER_STEPS = 8  # markers on a stepped line: enough to tell it, not so many as to hide it
CLEAR, FAINT = 0.16, 0.08  # opacity of a band; many on each other would hide the lines
LONG_TICK = 10  # characters: such labels would meet
MARK_GAP, MARKS_BESIDE = 0.16, 4  # of categories that are one apart
TITLE_WIDTH, NOTE_WIDTH = 72, 125  # characters
LOOK: dict[Any, Any] = {
    "font.size": 9.5,
    "axes.edgecolor": SOFT,
    "axes.labelcolor": INK,
    "axes.linewidth": 0.8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": GRID,
    "grid.linewidth": 0.8,
    "xtick.color": SOFT,
    "ytick.color": SOFT,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "legend.frameon": False,
    "legend.fontsize": 8.5,
    "lines.linewidth": 1.8,
}


@dataclass(frozen=True)
class Series:
    label: str
    x: Sequence[float]
    y: Sequence[float]
    low: Sequence[float] = ()
    high: Sequence[float] = ()
    style: str = "line"  # line, points, steps, or marks: of categories, which no line joins


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


def draw(figure: Figure, folder: Path) -> Path:
    """Writes <id>.svg, with the figure in words and numbers inside; answers its path."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{figure.id}.svg"
    with matplotlib.rc_context({**LOOK, "svg.hashsalt": figure.id}):
        canvas, axes = pyplot.subplots(figsize=(6.8, 4.6), layout="constrained")
        bands = sum(bool(len(series.low)) for series in figure.series)
        draw_into(axes, figure, FAINT if bands > 3 else CLEAR)
        axes.set_title(
            fill(figure.title, TITLE_WIDTH), fontsize=10.5, fontweight="bold", loc="left", color=INK
        )
        draw_stated(canvas, axes, figure.stated)
        _legend(axes, figure)
        note = footnote(figure)
        if note:
            canvas.supxlabel(fill(note, NOTE_WIDTH), x=0.012, ha="left", fontsize=7, color=SOFT)
        canvas.savefig(path, metadata={"Date": None})
        pyplot.close(canvas)
    write_inside(path, description(figure))
    return path


def draw_into(axes: Any, figure: Figure, band: float) -> None:
    """Its series and the labels of its axes."""
    for at, series in enumerate(figure.series):
        _draw_series(axes, series, at, band)
    _label(axes, figure)


def footnote(figure: Figure) -> str:
    """Where the figure comes from, and what its bands are."""
    banded = any(len(series.low) for series in figure.series)
    return "; ".join(part for part in (figure.provenance, "band: 95 % interval" if banded else "") if part)


def _draw_series(axes: Any, series: Series, at: int, band: float) -> None:
    colour, marker = COLOURS[at % len(COLOURS)], MARKERS[at % len(MARKERS)]
    plain = {"color": colour, "label": series.label, "marker": marker, "markeredgewidth": 0.9}
    if series.style == "points":
        faint = "none" if len(series.x) < 400 else colour
        axes.plot(
            series.x, series.y, linestyle="none", markersize=4, alpha=0.65, markerfacecolor=faint, **plain
        )
    elif series.style == "steps":
        every = max(1, len(series.x) // MARKS_PER_STEPS)
        staggered = (at * every // 4 % every, every)  # lines that lie on each other stay visible
        drawn = {"where": "post", "linewidth": 1.4, "markersize": 4.5, "markevery": staggered}
        axes.step(series.x, series.y, markerfacecolor="white", **drawn, **plain)
    elif series.style == "marks":
        _draw_marks(axes, series, at, plain)
        return
    else:
        axes.plot(series.x, series.y, markersize=5.5, markerfacecolor="white", **plain)
    if len(series.low):
        axes.fill_between(series.x, series.low, series.high, color=colour, alpha=band, linewidth=0)


def _draw_marks(axes: Any, series: Series, at: int, plain: dict[str, Any]) -> None:
    """Beside each other at each category, with their intervals as bars."""
    xs = [x + MARK_GAP * (at % MARKS_BESIDE - (MARKS_BESIDE - 1) / 2) for x in series.x]
    bars = None
    if len(series.low):
        bars = [
            [y - low for y, low in zip(series.y, series.low, strict=True)],
            [high - y for y, high in zip(series.y, series.high, strict=True)],
        ]
    axes.errorbar(
        xs, series.y, yerr=bars, linestyle="none", markersize=5.5, markerfacecolor="white",
        elinewidth=1.2, capsize=2.5, **plain,
    )  # fmt: skip


def draw_stated(canvas: Any, axes: Any, stated: Sequence[Stated]) -> None:
    """Lines and points first, then the labels to the right of them, moved apart where they would meet."""
    for value in stated:
        if value.x is None:
            axes.axhline(value.y, color=PAPER, linestyle=(0, (4, 2)), linewidth=1.1, zorder=1.5)
        else:
            hollow = {"markersize": 7, "markerfacecolor": "white", "markeredgecolor": PAPER}
            axes.plot([value.x], [value.y], marker="D", linestyle="none", zorder=4, clip_on=False, **hollow)
    if stated:
        canvas.draw_without_rendering()  # only now are the limits of the axes known
    for value, up in zip(stated, _label_shifts(axes, stated, canvas.dpi), strict=True):
        where = ("axes fraction", "data") if value.x is None else "data"
        axes.annotate(
            value.label, (1.0 if value.x is None else value.x, value.y), xycoords=where,
            xytext=(4 if value.x is None else 7, up), textcoords="offset points", ha="left", va="center",
            fontsize=7.5, color=PAPER, annotation_clip=False,
        )  # fmt: skip


def _label_shifts(axes: Any, stated: Sequence[Stated], dpi: float) -> list[float]:
    """Points up or down for each label; labels at the same x keep a gap, lowest first."""
    shifts = [0.0] * len(stated)
    last: dict[float | None, float] = {}
    for at in sorted(range(len(stated)), key=lambda i: stated[i].y):
        x, y = stated[at].x, stated[at].y
        height = axes.transData.transform((x if x is not None else axes.get_xlim()[1], y))[1] * 72 / dpi
        place = max(height, last.get(x, height - LABEL_GAP_PT) + LABEL_GAP_PT)
        shifts[at], last[x] = float(place - height), float(place)
    return shifts


def _label(axes: Any, figure: Figure) -> None:
    axes.set_xlabel(figure.x_label)
    axes.set_ylabel(figure.y_label)
    if figure.log_x:
        axes.set_xscale("log")
    if figure.log_y:
        axes.set_yscale("log")
    if figure.ticks:
        axes.set_xticks(list(figure.ticks), list(figure.ticks.values()))
        if max(map(len, figure.ticks.values())) > LONG_TICK:
            axes.tick_params(axis="x", rotation=25)
        axes.minorticks_off()  # a logarithmic axis would label its own beside them
    axes.tick_params(length=3)


def handles_of(axes: Any, figure: Figure) -> tuple[list[Any], list[str]]:
    """Of its series, and of what the paper states."""
    from matplotlib.lines import Line2D

    handles, labels = axes.get_legend_handles_labels()
    if figure.stated:
        line = figure.stated[0].x is None
        look = (
            {"linestyle": "--"} if line else {"linestyle": "none", "marker": "D", "markerfacecolor": "white"}
        )
        handles.append(Line2D([], [], color=PAPER, **cast(Any, look)))
        labels.append("stated by the paper")
    return handles, labels


def _legend(axes: Any, figure: Figure) -> None:
    """Below the axes, where it covers nothing."""
    handles, labels = handles_of(axes, figure)
    if handles:
        columns = 3 if max(map(len, labels)) < 24 else 2
        axes.legend(
            handles, labels, loc="upper left", bbox_to_anchor=(-0.02, -0.15), ncols=columns,
            borderaxespad=0.0, handlelength=2.2, columnspacing=1.6,
        )  # fmt: skip
