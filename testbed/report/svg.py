"""Small charts as SVG text, coloured by the page's CSS variables, so that they follow light and dark.

Every chart has a title and a description: the text alternative that a screen reader speaks.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape
from itertools import count

WIDTH, HEIGHT = 640, 300
LEFT, RIGHT, TOP, BOTTOM = 64, 18, 10, 44
CHARACTER = 8.2  # width of one, about, to leave room for it
LEGEND = 20  # the row above the marks, where it covers none
DASHES = ("", "7 3", "2 3", "9 3 2 3", "4 4", "12 4")  # lines can be told apart without colour, too
COLOURS = ("var(--c1)", "var(--c2)", "var(--c3)", "var(--c4)", "var(--c5)", "var(--c6)")
_numbers = count(1)


def nice_ticks(low: float, high: float, wanted: int = 5) -> list[float]:
    """Round values that cover [low, high]."""
    if high <= low:
        high = low + 1
    raw = (high - low) / wanted
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(power * m for m in (1, 2, 2.5, 5, 10) if power * m >= raw)
    first = math.floor(low / step)
    return [round((first + i) * step, 12) for i in range(math.ceil(high / step - first) + 1)]


def log_ticks(low: float, high: float) -> list[float]:
    """1, 2 and 5 of every power of ten that covers [low, high]; whole powers only over many."""
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    steps = (1, 2, 5) if last - first <= 2 else (1,)
    found = [m * 10.0**p for p in range(first, last + 1) for m in steps]
    below = max((t for t in found if t <= low), default=found[0])
    above = min((t for t in found if t >= high), default=found[-1])
    return [t for t in found if below <= t <= above]


def number(value: float) -> str:
    """Short and exact enough to read off an axis."""
    if value == 0:
        return "0"
    if abs(value) >= 1e6:
        return f"{value / 1e6:g}M"
    if abs(value) >= 1e4:
        return f"{value / 1e3:g}k"
    return f"{value:g}"


def amount(value: float, unit: str) -> str:
    """Three digits and a unit, for people: 18.1 kB."""
    for size, prefix in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(value) >= size:
            return f"{value / size:.3g} {prefix}{unit}"
    return f"{value:.3g} {unit}"


def span(ms: float) -> str:
    """A stretch of time as people say it."""
    if ms >= 10_000:
        return f"{ms / 1e3:.3g} s"
    return f"{ms:,.0f} ms" if ms >= 1000 else f"{ms:.3g} ms"


@dataclass
class Axis:
    label: str
    low: float
    high: float
    ticks: list[float] = field(default_factory=list)
    log: bool = False

    def __post_init__(self) -> None:
        self.ticks = self.ticks or (log_ticks if self.log else nice_ticks)(self.low, self.high)
        self.low, self.high = min(self.low, self.ticks[0]), max(self.high, self.ticks[-1])

    def share(self, value: float) -> float:
        if self.high <= self.low:
            return 0.0
        if self.log:
            return math.log(max(value, self.low) / self.low) / math.log(self.high / self.low)
        return (value - self.low) / (self.high - self.low)


@dataclass
class Chart:
    """Marks are drawn in data coordinates; `svg` puts axes, text and marks together."""

    title: str
    description: str
    x: Axis
    y: Axis
    height: int = HEIGHT
    width: int = WIDTH
    marks: list[str] = field(default_factory=list)
    under: list[str] = field(default_factory=list)
    over: list[str] = field(default_factory=list)
    legend: list[tuple[str, str, str]] = field(default_factory=list)  # label, colour, dashes
    labels: list[list[tuple[float, float]]] = field(default_factory=list)  # of bands, by row: from, to

    def px(self, x: float) -> float:
        return LEFT + self.x.share(x) * (self.width - LEFT - RIGHT)

    def py(self, y: float) -> float:
        return self.height - BOTTOM - self.y.share(y) * (self.height - TOP - LEGEND - BOTTOM)

    def line(
        self, xs: Sequence[float], ys: Sequence[float], colour: str, label: str = "", dashes: str = ""
    ) -> None:
        points = " ".join(f"{self.px(x):.1f},{self.py(y):.1f}" for x, y in zip(xs, ys, strict=True))
        dashed = f' stroke-dasharray="{dashes}"' if dashes else ""
        self.marks.append(f'<polyline class="line" style="stroke:{colour}"{dashed} points="{points}"/>')
        if label:
            self.legend.append((label, colour, dashes))

    def dot(self, x: float, y: float, colour: str, tip: str) -> None:
        self.marks.append(
            f'<circle style="fill:{colour}" cx="{self.px(x):.1f}" cy="{self.py(y):.1f}" r="3.5">'
            f"<title>{escape(tip)}</title></circle>"
        )

    def bar(self, left: float, right: float, top: float, colour: str, tip: str) -> None:
        x, y = self.px(left), self.py(top)
        width, height = max(self.px(right) - x, 0.5), self.py(self.y.low) - y
        self.marks.append(
            f'<rect style="fill:{colour}" x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}">'
            f"<title>{escape(tip)}</title></rect>"
        )

    def band(self, left: float, right: float, tip: str, label: str = "") -> None:
        """A stretch of the x axis, shaded: a fault was active."""
        x = self.px(max(left, self.x.low))
        width = max(self.px(min(right, self.x.high)) - x, 1.5)
        top = TOP + LEGEND
        height = self.height - top - BOTTOM
        edges = "".join(
            f'<line class="bandedge" x1="{at:.1f}" x2="{at:.1f}" y1="{top}" y2="{top + height}"/>'
            for at in (x, x + width)
        )
        middle = x + width / 2
        text = text_at(middle, top + 13 + 14 * self._row(middle, label), label, "bandtext", "middle")
        self.under.append(
            f'<rect class="band" x="{x:.1f}" y="{top}" width="{width:.1f}" height="{height}">'
            f"<title>{escape(tip)}</title></rect>{edges}"
        )
        self.over.append(text if label else "")

    def _row(self, middle: float, label: str) -> int:
        """The first row in which the label touches no other; many faults share the last."""
        if not label:
            return 0
        half = 4.2 * len(label) + 4  # of bold text of 12 pixels
        free = [
            all(middle + half < left or middle - half > right for left, right in taken)
            for taken in self.labels
        ]
        row = free.index(True) if True in free else len(free)
        self.labels += [[]] if row == len(free) else []
        self.labels[row].append((middle - half, middle + half))
        return min(row, 3)

    def svg(self) -> str:
        content = "".join([*self.under, self._axes(), *self.marks, *self.over, self._legend()])
        return wrap(self.title, self.description, self.height, content, self.width)

    def _axes(self) -> str:
        bottom, right = self.height - BOTTOM, self.width - RIGHT
        parts = []
        for tick in self.y.ticks:
            y = self.py(tick)
            parts.append(f'<line class="grid" x1="{LEFT}" x2="{right}" y1="{y:.1f}" y2="{y:.1f}"/>')
            parts.append(text_at(LEFT - 6, y + 4, number(tick), "tick", "end"))
        for tick in self.x.ticks:
            x = self.px(tick)
            parts.append(f'<line class="axis" x1="{x:.1f}" x2="{x:.1f}" y1="{bottom}" y2="{bottom + 4}"/>')
            parts.append(text_at(x, bottom + 17, number(tick), "tick", "middle"))
        parts.append(f'<line class="axis" x1="{LEFT}" x2="{right}" y1="{bottom}" y2="{bottom}"/>')
        parts.append(text_at((LEFT + right) / 2, self.height - 8, self.x.label, "label", "middle"))
        turn = (TOP + LEGEND + bottom) / 2
        parts.append(
            f'<text class="label" transform="translate(14 {turn}) rotate(-90)" text-anchor="middle">'
            f"{escape(self.y.label)}</text>"
        )
        return "".join(parts)

    def _legend(self) -> str:
        parts = []
        x, y = float(LEFT), TOP + 4
        for label, colour, dashes in self.legend:
            dashed = f' stroke-dasharray="{dashes}"' if dashes else ""
            ends = f'x1="{x:.0f}" x2="{x + 24:.0f}" y1="{y}" y2="{y}"'
            parts.append(f'<line class="line" style="stroke:{colour}"{dashed} {ends}/>')
            parts.append(text_at(x + 29, y + 4, label, "label"))
            x += 29 + CHARACTER * len(label) + 18
        return "".join(parts)


def text_at(x: float, y: float, text: str, kind: str = "tick", anchor: str = "start") -> str:
    return f'<text class="{kind}" x="{x:.0f}" y="{y:.0f}" text-anchor="{anchor}">{escape(text)}</text>'


def wrap(title: str, description: str, height: int, content: str, width: int = WIDTH) -> str:
    serial = next(_numbers)
    return (
        f'<svg class="chart" role="img" viewBox="0 0 {width} {height}" '
        f'aria-labelledby="t{serial} d{serial}"><title id="t{serial}">{escape(title)}</title>'
        f'<desc id="d{serial}">{escape(description)}</desc>{content}</svg>'
    )
