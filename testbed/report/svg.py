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
LEFT, RIGHT, TOP, BOTTOM = 64, 16, 14, 44
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


def number(value: float) -> str:
    """Short and exact enough to read off an axis."""
    if value == 0:
        return "0"
    if abs(value) >= 1e6:
        return f"{value / 1e6:g}M"
    if abs(value) >= 1e4:
        return f"{value / 1e3:g}k"
    return f"{value:g}"


@dataclass
class Axis:
    label: str
    low: float
    high: float
    ticks: list[float] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.ticks = self.ticks or nice_ticks(self.low, self.high)
        self.low, self.high = min(self.low, self.ticks[0]), max(self.high, self.ticks[-1])

    def share(self, value: float) -> float:
        return (value - self.low) / (self.high - self.low) if self.high > self.low else 0.0


@dataclass
class Chart:
    """Marks are drawn in data coordinates; `svg` puts axes, text and marks together."""

    title: str
    description: str
    x: Axis
    y: Axis
    height: int = HEIGHT
    marks: list[str] = field(default_factory=list)
    legend: list[tuple[str, str]] = field(default_factory=list)
    legend_below: bool = False  # where the lines end at the top, it stands at the bottom

    def px(self, x: float) -> float:
        return LEFT + self.x.share(x) * (WIDTH - LEFT - RIGHT)

    def py(self, y: float) -> float:
        return self.height - BOTTOM - self.y.share(y) * (self.height - TOP - BOTTOM)

    def line(self, xs: Sequence[float], ys: Sequence[float], colour: str, label: str = "") -> None:
        points = " ".join(f"{self.px(x):.1f},{self.py(y):.1f}" for x, y in zip(xs, ys, strict=True))
        self.marks.append(f'<polyline class="line" style="stroke:{colour}" points="{points}"/>')
        if label:
            self.legend.append((label, colour))

    def bar(self, left: float, right: float, top: float, colour: str, tip: str) -> None:
        x, y = self.px(left), self.py(top)
        width, height = max(self.px(right) - x, 0.5), self.py(self.y.low) - y
        self.marks.append(
            f'<rect style="fill:{colour}" x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}">'
            f"<title>{escape(tip)}</title></rect>"
        )

    def band(self, left: float, right: float, tip: str) -> None:
        """A stretch of the x axis, shaded: a fault was active."""
        x = self.px(max(left, self.x.low))
        width = max(self.px(min(right, self.x.high)) - x, 1.5)
        height = self.height - TOP - BOTTOM
        self.marks.insert(
            0,
            f'<rect class="band" x="{x:.1f}" y="{TOP}" width="{width:.1f}" height="{height}">'
            f"<title>{escape(tip)}</title></rect>",
        )

    def svg(self) -> str:
        return wrap(
            self.title, self.description, self.height, self._axes() + "".join(self.marks) + self._legend()
        )

    def _axes(self) -> str:
        bottom = self.height - BOTTOM
        parts = []
        for tick in self.y.ticks:
            y = self.py(tick)
            parts.append(f'<line class="grid" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>')
            parts.append(text_at(LEFT - 6, y + 4, number(tick), "tick", "end"))
        for tick in self.x.ticks:
            parts.append(text_at(self.px(tick), bottom + 16, number(tick), "tick", "middle"))
        middle = (LEFT + WIDTH - RIGHT) / 2
        parts.append(f'<line class="axis" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{bottom}" y2="{bottom}"/>')
        parts.append(text_at(middle, self.height - 8, self.x.label, "label", "middle"))
        turn = (TOP + bottom) / 2
        parts.append(
            f'<text class="label" transform="translate(14 {turn}) rotate(-90)" text-anchor="middle">'
            f"{escape(self.y.label)}</text>"
        )
        return "".join(parts)

    def _legend(self) -> str:
        parts = []
        first = self.height - BOTTOM - 16 * len(self.legend) if self.legend_below else TOP + 10
        for at, (label, colour) in enumerate(self.legend):
            y = first + 16 * at
            parts.append(
                f'<rect style="fill:{colour}" x="{WIDTH - 170}" y="{y - 8}" width="10" height="10"/>'
            )
            parts.append(f'<text class="tick" x="{WIDTH - 155}" y="{y + 1}">{escape(label)}</text>')
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
