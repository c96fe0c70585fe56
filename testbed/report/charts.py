"""The charts of a run's page, from its tables. Each says in words what it shows, and gives its numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape
from itertools import pairwise

import numpy as np
import pandas

from testbed.report.svg import COLOURS, DASHES, Axis, Chart, amount, span, text_at, wrap

POINTS = 200  # of a distribution: more would not be seen
WINDOWS = 120  # of the timeline
QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 1.0)
TYPES_SHOWN = 20
LINKS_SHOWN = 15
WIDE = 1080
LOG_FROM = 20  # the longest delay so many medians: only a logarithmic axis shows both


@dataclass(frozen=True)
class Fault:
    start_s: float
    end_s: float
    text: str


@dataclass(frozen=True)
class Drawn:
    """A chart, what it shows in words, and the numbers behind it (column -> heading)."""

    title: str
    text: str
    svg: str
    numbers: pandas.DataFrame | None = None
    headings: dict[str, str] = field(default_factory=dict)


def delay_cdf(deliveries: pandas.DataFrame) -> Drawn:
    """One line per subscriber class, and one for all."""
    groups = {"all deliveries": deliveries}
    classes = sorted(deliveries.group.dropna().unique())
    if 1 < len(classes) <= 4:
        groups |= {f"class {name or '(none)'}": deliveries[deliveries.group == name] for name in classes}
    values = deliveries.delay_us.to_numpy(dtype=float) / 1e3
    longest, median, tail = float(values.max()), float(np.median(values)), float(np.quantile(values, 0.99))
    text = (
        f"Half of {len(deliveries):,} deliveries took at most {span(median)}, "
        f"99 % at most {span(tail)}, all at most {span(longest)}."
    )
    log = median > 0 and longest > LOG_FROM * median
    low = max(float(values[values > 0].min()), longest / 1e5) if log else 0.0
    axis = Axis("delay (ms), logarithmic" if log else "delay (ms)", low, longest, log=log)
    chart = Chart("Delivery delay", text, axis, Axis("share of deliveries", 0, 1))
    for at, (name, frame) in enumerate(groups.items()):
        xs, ys = _steps(frame.delay_us.to_numpy(dtype=float) / 1e3, low)
        chart.line(xs, ys, COLOURS[at], name if len(groups) > 1 else "", DASHES[at])
    headings = {"share": "share of deliveries"} | {name: f"{name} (ms)" for name in groups}
    return Drawn("Delivery delay", text, chart.svg(), _quantiles(groups), headings)


def _quantiles(groups: dict[str, pandas.DataFrame]) -> pandas.DataFrame:
    columns = {
        name: [float(v) / 1e3 for v in np.quantile(g.delay_us, QUANTILES)] for name, g in groups.items()
    }
    return pandas.DataFrame({"share": [f"{100 * q:.0f} %" for q in QUANTILES], **columns})


def _steps(values: np.ndarray, low: float) -> tuple[list[float], list[float]]:
    """The empirical distribution as a stair; of many values, that of their quantiles."""
    shares = (
        np.arange(1, len(values) + 1) / len(values) if len(values) <= POINTS else np.linspace(0, 1, POINTS)
    )
    at = np.sort(values) if len(values) <= POINTS else np.quantile(values, shares)
    xs, ys = [low], [0.0]
    for x, y in zip(at.tolist(), shares.tolist(), strict=True):
        xs += [x, x]
        ys += [ys[-1], y]
    return xs, ys


def hop_histogram(distribution: pandas.DataFrame) -> Drawn:
    frame = distribution[distribution.measure == "overlay"].sort_values("hops")
    hops, shares = frame.hops.astype(int).tolist(), frame.share.tolist()
    mean = sum(h * s for h, s in zip(hops, shares, strict=True)) / (sum(shares) or 1.0)
    text = f"{mean:.2f} overlay links on average; " + ", ".join(
        f"{h}: {100 * s:.0f} %" for h, s in zip(hops, shares, strict=True)
    )
    ticks = [float(h) for h in range(max(hops) + 1)]
    chart = Chart(
        "Overlay hops per delivery", text, Axis("overlay links crossed", -0.6, max(hops) + 0.6, ticks),
        Axis("share of deliveries", 0, max(shares)),
    )  # fmt: skip
    for h, share in zip(hops, shares, strict=True):
        chart.bar(h - 0.4, h + 0.4, share, COLOURS[0], f"{h} hops: {100 * share:.1f} %")
    headings = {"hops": "overlay links", "count": "deliveries", "share": "share"}
    return Drawn("Overlay hops per delivery", text + ".", chart.svg(), frame, headings)


def witnesses(overhead: pandas.DataFrame) -> Drawn:
    """Messages between brokers by type: what they logged beside what crossed the wire."""
    frame = overhead[(overhead.link == "overlay") & (overhead.type != "all")]
    frame = frame.sort_values("log_messages", ascending=False).head(TYPES_SHOWN)
    seen = frame.wire_messages.notna().any()
    sides = {"log": frame.log_messages, "wire": frame.wire_messages} if seen else {"log": frame.log_messages}
    rows = [
        (str(kind), [(name, float(values.iloc[at])) for name, values in sides.items()])
        for at, kind in enumerate(frame.type)
    ]
    counts = (f"{k} {n:,.0f}" for k, n in zip(frame.type, frame.log_messages, strict=True))
    text = (
        "Messages logged, by type: " + ", ".join(counts) + ("." if seen else "; no capture to compare with.")
    )
    title = "Messages between brokers, by type"
    return Drawn(title, text, lying_bars(title, text, rows))


def links_by_bytes(ranked: pandas.DataFrame, what: str) -> Drawn:
    """`ranked` has source, target and bytes, most bytes first."""
    top = ranked.head(LINKS_SHOWN)
    rows = [(f"{r.source} → {r.target}", [("", float(r.bytes))]) for r in top.itertuples()]
    total = float(ranked.bytes.sum())
    share = 100 * float(top.bytes.iloc[0]) / total if total else 0.0
    text = (
        f"The busiest of {len(ranked):,} directions is {rows[0][0]} with "
        f"{amount(float(top.bytes.iloc[0]), 'B')}, {share:.1f} % of {amount(total, 'B')} in all."
    )
    title = f"{what} by bytes"
    return Drawn(title, text, lying_bars(title, text, rows, "B"))


def lying_bars(
    title: str, text: str, rows: Sequence[tuple[str, Sequence[tuple[str, float]]]], unit: str = ""
) -> str:
    """A group of bars per row, each with its name and its value written beside it."""
    top = max((v for _, bars in rows for _, v in bars if not math.isnan(v)), default=0.0) or 1.0
    left, width, bar = 190, 640, 12
    high = bar * max((len(bars) for _, bars in rows), default=1) + 10
    parts = []
    for at, (label, bars) in enumerate(rows):
        y = 8 + at * high
        parts.append(text_at(left - 8, y + (high - 10) / 2 + 4, label, "label", "end"))
        for side, (name, value) in enumerate(bars):
            if not math.isnan(value):
                shown = amount(value, unit) if unit else f"{value:,.0f}"
                where = y + side * (bar + 1)
                parts.append(_lying_bar(left, where, (width - left - 90) * value / top, bar, side))
                parts.append(
                    text_at(
                        left + (width - left - 90) * value / top + 6,
                        where + bar - 2,
                        f"{shown} {name}",
                        "tick",
                    )
                )
    return wrap(title, text, 12 + high * len(rows), "".join(parts), width)


def _lying_bar(x: float, y: float, long: float, thick: float, side: int) -> str:
    size = f'width="{max(long, 0.5):.1f}" height="{thick}"'
    return f'<rect style="fill:{COLOURS[side]}" x="{x}" y="{y}" rx="1.5" {size}/>'


def timeline(
    deliveries: pandas.DataFrame, missing: pandas.DataFrame, first_us: int, faults: Sequence[Fault]
) -> Drawn:
    """Deliveries per second; what never arrived at the instant it was published; faults shaded."""
    seconds = (deliveries.delivered_us.to_numpy(dtype=float) - first_us) / 1e6
    published = missing.published_us.to_numpy(dtype=float) if len(missing) else np.empty(0)
    lost = (published - first_us) / 1e6
    end = max([float(seconds.max()) if len(seconds) else 1.0, *lost.tolist(), *(f.start_s for f in faults)])
    bins = min(WINDOWS, max(1, int(end)))
    counts, edges = np.histogram(seconds, bins=bins, range=(0.0, end))
    gone, _ = np.histogram(lost, bins=bins, range=(0.0, end))
    width = float(edges[1] - edges[0])
    text = _timeline_text(len(deliveries), len(missing), end, faults)
    chart = Chart(
        "Deliveries over time",
        text,
        Axis("run time (s)", 0, end),
        Axis("per second", 0, float((counts + gone).max()) / width),
        height=280,
        width=WIDE,
    )
    for fault in faults:
        chart.band(fault.start_s, fault.end_s, _fault_text(fault), fault.text)
    for left, right, got, not_got in zip(edges, edges[1:], counts / width, gone / width, strict=False):
        chart.bar(float(left), float(right), float(got), COLOURS[0], f"{left:.0f} s: {got:.1f} delivered/s")
        if not_got:
            tip = f"{left:.0f} s: {not_got:.1f}/s published and never delivered"
            chart.bar(float(left), float(right), float(not_got), COLOURS[1], tip)
    if len(missing):
        chart.legend += [("delivered", COLOURS[0], ""), ("never delivered", COLOURS[1], "")]
    coarse = _coarse(seconds, lost, deliveries.delay_us.to_numpy(dtype=float) / 1e3, end, faults)
    headings = {
        "from_s": "from (s)", "to_s": "to (s)", "delivered": "delivered", "missing": "never delivered",
        "p50_ms": "median delay (ms)", "max_ms": "longest (ms)", "faults": "faults",
    }  # fmt: skip
    return Drawn("Deliveries over time", text, chart.svg(), coarse, headings)


def _timeline_text(delivered: int, missing: int, end: float, faults: Sequence[Fault]) -> str:
    text = f"{delivered:,} deliveries in {end:.0f} s"
    text += f", {missing:,} publications for a subscriber never arrived" if missing else ""
    text += (
        "; no faults." if not faults else f"; {len(faults)} fault{'s' if len(faults) > 1 else ''} (shaded):"
    )
    more = f" And {len(faults) - 10} more." if len(faults) > 10 else ""
    return text + "".join(f" {_fault_text(f)}." for f in faults[:10]) + more


def _fault_text(fault: Fault) -> str:
    return f"{fault.text} from {fault.start_s:.1f} to {fault.end_s:.1f} s"


def _coarse(
    seconds: np.ndarray, lost: np.ndarray, delays_ms: np.ndarray, end: float, faults: Sequence[Fault]
) -> pandas.DataFrame:
    edges = np.linspace(0, end, min(20, max(1, int(end / 5))) + 1)
    rows = []
    for left, right in pairwise(edges.tolist()):
        here = delays_ms[(seconds >= left) & (seconds < right)]
        active = [f.text for f in faults if f.start_s < right and f.end_s > left]
        rows.append(
            {
                "from_s": round(float(left), 1),
                "to_s": round(float(right), 1),
                "delivered": len(here),
                "missing": int(((lost >= left) & (lost < right)).sum()),
                "p50_ms": float(np.median(here)) if len(here) else math.nan,
                "max_ms": float(here.max()) if len(here) else math.nan,
                "faults": ", ".join(active) or "none",
            }
        )
    return pandas.DataFrame(rows)


def delay_course(deliveries: pandas.DataFrame, first_us: int, faults: Sequence[Fault]) -> Drawn:
    """Median and 95th percentile of the delay, by the instant of delivery."""
    seconds = (deliveries.delivered_us.to_numpy(dtype=float) - first_us) / 1e6
    delays = deliveries.delay_us.to_numpy(dtype=float) / 1e3
    end = float(seconds.max())
    bins = min(60, max(1, int(end / 2)))
    place = np.clip((seconds / end * bins).astype(int) if end else 0, 0, bins - 1)
    used = np.unique(place)
    middle = [(float(b) + 0.5) * end / bins for b in used]
    median = [float(np.median(delays[place == b])) for b in used]
    high = [float(np.quantile(delays[place == b], 0.95)) for b in used]
    low, top = min((m for m in median if m > 0), default=0.0), float(max(high))
    log = low > 0 and top > LOG_FROM * float(np.median(delays))
    text = f"Median delay between {span(min(median))} and {span(max(median))}; "
    text += f"95th percentile up to {span(top)}."
    y = Axis("delay (ms)", low if log else 0.0, top, log=log)
    chart = Chart("Delay over time", text, Axis("run time (s)", 0, end), y, height=240, width=WIDE)
    for fault in faults:
        chart.band(fault.start_s, fault.end_s, _fault_text(fault))
    chart.line(middle, high, COLOURS[1], "95th percentile", DASHES[1])
    chart.line(middle, median, COLOURS[0], "median")
    for x, value in zip(middle, median, strict=True):
        chart.dot(x, value, COLOURS[0], f"{x:.0f} s: median {value:.3g} ms")
    return Drawn("Delay over time", text, chart.svg())


def load_heat_map(load: pandas.DataFrame) -> Drawn:
    """Brokers down, time across; the darker, the more messages per second."""
    table = load.pivot_table(index="broker", columns="window_s", values="received_per_s", fill_value=0.0)
    table = table.loc[sorted(table.index, key=natural)]
    top = float(table.to_numpy().max()) or 1.0
    cell = 16 if len(table) <= 24 else 10 if len(table) <= 60 else 6
    left, head, right = 64, 34, WIDE - 8
    step = (right - left) / max(1, len(table.columns))
    every = max(1, math.ceil(13 / cell))  # a name needs about 13 pixels
    parts = [_heat_legend(right, top)]
    cells = []
    for row, (broker, values) in enumerate(table.iterrows()):
        y = head + row * cell
        if row % every == 0:
            parts.append(text_at(left - 6, y + cell / 2 + 4, str(broker), "tick", "end"))
        for at, (window, value) in enumerate(values.items()):
            tip = f"{broker}, {window} s: {value:.1f} messages/s"
            cells.append(
                f'<rect fill-opacity="{0.05 + 0.95 * value / top:.2f}" x="{left + at * step:.1f}" y="{y}" '
                f'width="{step - 0.6:.1f}" height="{cell - 0.6:.1f}"><title>{escape(tip)}</title></rect>'
            )
    parts.append(f'<g class="heat">{"".join(cells)}</g>')
    bottom = head + cell * len(table)
    every = max(1, math.ceil(len(table.columns) / 12))
    for at, window in enumerate(table.columns):
        if at % every == 0:
            parts.append(text_at(left + at * step, bottom + 16, f"{window:g}", "tick", "middle"))
    parts.append(
        text_at((left + right) / 2, bottom + 34, "run time (s), start of the window", "label", "middle")
    )
    means = table.mean(axis=1)
    busiest, peak = means.idxmax(), table.to_numpy().max()
    text = (
        f"Busiest broker: {busiest} with {means[busiest]:.1f} messages per second on average; "
        f"peak {peak:.1f}; mean of all {len(table)} brokers {means.mean():.1f}."
    )
    title = "Messages received per second, by broker and time"
    numbers = pandas.DataFrame({"broker": table.index, "mean": means.to_numpy(), "peak": table.max(axis=1)})
    numbers = numbers.sort_values("mean", ascending=False)
    headings = {"broker": "broker", "mean": "mean (messages/s)", "peak": "peak"}
    return Drawn(title, text, wrap(title, text, bottom + 42, "".join(parts), WIDE), numbers, headings)


def _heat_legend(right: float, top: float) -> str:
    steps, size = 8, 20
    first = right - steps * size - 40
    cells = "".join(
        f'<rect fill-opacity="{0.05 + 0.95 * i / (steps - 1):.2f}" x="{first + i * size:.0f}" y="8" '
        f'width="{size}" height="10"/>'
        for i in range(steps)
    )
    ends = text_at(first - 6, 17, "0", "tick", "end") + text_at(right - 34, 17, f"{top:.3g}/s", "tick")
    return f'<g class="heat">{cells}</g>{ends}'


def natural(name: str) -> tuple[str, int]:
    head = name.rstrip("0123456789")
    return head, int(name[len(head) :] or 0)
