"""The charts of a run's page, from its tables."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

import numpy as np
import pandas

from testbed.report.svg import COLOURS, Axis, Chart, text_at, wrap

POINTS = 200  # of a distribution: more would not be seen
WINDOWS = 120  # of the timeline
TYPES_SHOWN = 20


@dataclass(frozen=True)
class Fault:
    start_s: float
    end_s: float
    text: str


def delay_cdf(deliveries: pandas.DataFrame) -> str:
    """One line per subscriber class, and one for all."""
    groups = {"all deliveries": deliveries}
    classes = sorted(deliveries.group.dropna().unique())
    if 1 < len(classes) <= 5:
        groups |= {name or "(none)": deliveries[deliveries.group == name] for name in classes}
    longest = float(deliveries.delay_us.max()) / 1e3
    median = float(deliveries.delay_us.median()) / 1e3
    text = f"Half of {len(deliveries)} deliveries took at most {median:.3g} ms, all at most {longest:.3g} ms."
    chart = Chart("Delivery delay", text, Axis("delay (ms)", 0, longest), Axis("share of deliveries", 0, 1))
    chart.legend_below = True
    shares = np.linspace(0, 1, POINTS)
    for (name, frame), colour in zip(groups.items(), COLOURS, strict=False):
        values = np.quantile(frame.delay_us.to_numpy() / 1e3, shares)
        chart.line([0.0, *values.tolist()], [0.0, *shares.tolist()], colour, name)
    return chart.svg()


def hop_histogram(distribution: pandas.DataFrame) -> str:
    frame = distribution[distribution.measure == "overlay"].sort_values("hops")
    hops, shares = frame.hops.astype(int).tolist(), frame.share.tolist()
    text = ", ".join(f"{h} hops: {100 * s:.0f} %" for h, s in zip(hops, shares, strict=True))
    ticks = [float(h) for h in range(max(hops) + 1)]
    chart = Chart(
        "Overlay hops per delivery", text, Axis("overlay links crossed", -0.6, max(hops) + 0.6, ticks),
        Axis("share of deliveries", 0, max(shares)),
    )  # fmt: skip
    for h, share in zip(hops, shares, strict=True):
        chart.bar(h - 0.4, h + 0.4, share, COLOURS[0], f"{h} hops: {100 * share:.1f} %")
    return chart.svg()


def witnesses(overhead: pandas.DataFrame) -> str:
    """Messages between brokers by type: what they logged beside what crossed the wire."""
    frame = overhead[(overhead.link == "overlay") & (overhead.type != "all")]
    frame = frame.sort_values("log_messages", ascending=False).head(TYPES_SHOWN)
    seen = frame.wire_messages.notna().any()
    sides = {"log": frame.log_messages, "wire": frame.wire_messages} if seen else {"log": frame.log_messages}
    top = max(float(values.max()) for values in sides.values())
    left, width, row, bar = 190, 640, 30, 11
    parts = []
    for at, kind in enumerate(frame.type):
        y = 8 + at * row
        parts.append(text_at(left - 8, y + 15, str(kind), "label", "end"))
        for side, (name, values) in enumerate(sides.items()):
            value = float(values.iloc[at])
            if not math.isnan(value):
                long = (width - left - 80) * value / (top or 1.0)
                parts.append(
                    _lying_bar(left, y + side * (bar + 1), long, bar, COLOURS[side], f"{value:,.0f} {name}")
                )
    counts = (f"{k} {n:,.0f}" for k, n in zip(frame.type, frame.log_messages, strict=True))
    text = "Messages logged, by type: " + ", ".join(counts) + ("" if seen else "; no capture to compare with")
    return wrap("Messages between brokers, by type", text, 12 + row * len(frame), "".join(parts), width)


def _lying_bar(x: float, y: float, long: float, thick: float, colour: str, label: str) -> str:
    shape = f'<rect style="fill:{colour}" x="{x}" y="{y}" width="{max(long, 0.5):.1f}" height="{thick}"/>'
    return shape + text_at(x + long + 5, y + thick - 1, label, "tick")


def timeline(deliveries: pandas.DataFrame, first_us: int, faults: Sequence[Fault]) -> str:
    """Deliveries per second over the run, faults as shaded bands."""
    seconds = (deliveries.delivered_us.to_numpy() - first_us) / 1e6
    end = float(seconds.max()) if len(seconds) else 1.0
    counts, edges = np.histogram(seconds, bins=min(WINDOWS, max(1, int(end))), range=(0.0, end))
    width = float(edges[1] - edges[0])
    rates = counts / width
    text = f"{len(deliveries)} deliveries in {end:.0f} s; {len(faults)} faults."
    text += "".join(f" {f.text} from {f.start_s:.1f} to {f.end_s:.1f} s." for f in faults[:10])
    chart = Chart(
        "Deliveries over time",
        text,
        Axis("run time (s)", 0, end),
        Axis("deliveries per second", 0, float(rates.max())),
    )
    for fault in faults:
        chart.band(fault.start_s, fault.end_s, fault.text)
    for left, right, rate in zip(edges, edges[1:], rates, strict=False):
        chart.bar(float(left), float(right), float(rate), COLOURS[0], f"{left:.0f} s: {rate:.1f}/s")
    return chart.svg()


def load_heat_map(load: pandas.DataFrame) -> str:
    """Brokers down, time across; the darker, the more messages per second."""
    table = load.pivot_table(index="broker", columns="window_s", values="received_per_s", fill_value=0.0)
    table = table.loc[sorted(table.index, key=_natural)]
    top = float(table.to_numpy().max()) or 1.0
    cell = 6 if len(table) > 40 else 14
    left, head = 64, 4
    width = 640
    step = (width - left - 8) / max(1, len(table.columns))
    parts = []
    for row, (broker, values) in enumerate(table.iterrows()):
        y = head + row * cell
        if cell > 6 or row % 5 == 0:
            parts.append(text_at(left - 6, y + cell - 2, str(broker), "tick", "end"))
        for at, (window, value) in enumerate(values.items()):
            tip = f"{broker}, {window} s: {value:.1f} messages/s"
            shade = 0.06 + 0.94 * value / top
            parts.append(
                f'<rect class="heat" style="opacity:{shade:.2f}" x="{left + at * step:.1f}" y="{y}" '
                f'width="{step + 0.3:.1f}" height="{cell}"><title>{escape(tip)}</title></rect>'
            )
    height = head + cell * len(table) + 34
    last = table.columns[-1] if len(table.columns) else 0
    parts.append(text_at((left + width) / 2, height - 6, f"run time, 0 to {last} s", "label", "middle"))
    busiest = table.mean(axis=1).idxmax()
    mean = table.loc[busiest].mean()
    text = f"Busiest broker: {busiest} with {mean:.1f} messages per second on average; peak {top:.1f}."
    return wrap("Messages received per broker", text, height, "".join(parts), width)


def _natural(name: str) -> tuple[str, int]:
    head = name.rstrip("0123456789")
    return head, int(name[len(head) :] or 0)
