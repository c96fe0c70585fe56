"""Brokers that got other places on their ring, on a run's page.

The ring before and after with one topic's tree, each reconfiguration as a timeline of its steps, and clients
that changed their broker.
"""

from __future__ import annotations

import math
from html import escape

import pandas

from testbed.report.charts import Drawn
from testbed.report.svg import COLOURS, Axis, Chart, span, text_at, wrap

STEPS = ("init", "overlay", "restore", "repair", "finish", "retire")
COLUMNS = {
    "time_s": "time (s)", "version": "version", "outcome": "outcome", "moved": "moved", "cost": "cost before",
    "after": "cost after", "price": "bound of messages", "messages": "messages", "duration_ms": "took (ms)",
    "detail": "detail",
}  # fmt: skip
SIZE, ROW, LEFT, WIDE = 560, 34, 90, 1080
Place = tuple[float, float]


def course(table: pandas.DataFrame) -> pandas.DataFrame:
    """In order of time, with the columns of `COLUMNS`."""
    messages = table.orders + table.acknowledgements + table.broker_messages
    return table.assign(messages=messages, duration_ms=table.duration_us.astype(float) / 1e3).sort_values(
        "time_s", kind="stable"
    )


# ---------------------------------------------------------------- the ring


def rings(table: pandas.DataFrame, places: pandas.DataFrame, edges: pandas.DataFrame) -> list[Drawn]:
    """Before and after the last one that was done, with the tree of the topic that was largest before."""
    done = table[table.outcome == "done"].sort_values("version")
    if not len(done):
        return []
    version = int(done.version.iloc[-1])
    seats = places[places.version == version]
    before = int(done.version.iloc[-2]) if len(done) > 1 else 0
    sizes = edges[edges.plane == before].groupby("topic").size()
    topic = str(sizes.idxmax()) if len(sizes) else ""
    drawn = []
    for plane, column, word in ((before, "before", "before"), (version, "after", "after")):
        tree = edges[(edges.plane == plane) & (edges.topic == topic)]
        drawn.append(
            _ring(seats, column, tree, f"Ring {word} the reconfiguration to version {version}", topic)
        )
    return drawn


def _ring(seats: pandas.DataFrame, column: str, tree: pandas.DataFrame, title: str, topic: str) -> Drawn:
    """Brokers in the order of their places, evenly spaced: real distances would put some upon each other."""
    order = seats.sort_values(column, kind="stable").broker.tolist()
    at = {broker: _on_circle(index / max(len(order), 1)) for index, broker in enumerate(order)}
    members = set(tree[tree.member].child)
    inside = {*tree.parent, *tree.child}
    roots = set(tree.parent) - set(tree.child)
    relays = inside - members - roots
    moved = set(seats[seats.moved].broker)
    lines = "".join(
        f'<line class="wire" x1="{at[a][0]:.0f}" y1="{at[a][1]:.0f}" x2="{at[b][0]:.0f}" y2="{at[b][1]:.0f}">'
        f"<title>{escape(f'{a} to {b}')}</title></line>"
        for a, b in zip(tree.parent, tree.child, strict=True)
        if a in at and b in at
    )
    dots = "".join(
        _dot(broker, at[broker], broker in moved, _role(broker, roots, members, relays)) for broker in order
    )
    text = (
        f"{len(order)} brokers clockwise in the order of their ids; {len(moved)} ringed ones change places. "
        f"Tree of {topic or 'no topic'}: {len(members)} members, {len(relays)} unrelated relays, "
        f"rendezvous point {', '.join(sorted(roots)) or 'alone'}."
    )
    numbers = tree[["parent", "child", "member"]].reset_index(drop=True)
    headings = {"parent": "parent", "child": "child", "member": "child subscribes"}
    svg = wrap(title, text, SIZE, f'{lines}<g class="nodes">{dots}</g>', SIZE)
    return Drawn(title, text, svg, numbers, headings)


def _on_circle(share: float) -> Place:
    angle, radius = 2 * math.pi * share, SIZE / 2 - 40
    return SIZE / 2 + radius * math.sin(angle), SIZE / 2 - radius * math.cos(angle)


def _role(broker: str, roots: set[str], members: set[str], relays: set[str]) -> tuple[str, str]:
    if broker in roots:
        return COLOURS[1], "rendezvous point"
    if broker in members:
        return COLOURS[0], "member"
    if broker in relays:
        return COLOURS[2], "unrelated relay"
    return "var(--soft)", "not in this tree"


def _dot(broker: str, place: Place, moved: bool, role: tuple[str, str]) -> str:
    colour, word = role
    tip = f"<title>{escape(f'{broker}: {word}')}</title>"
    ring = f'<circle fill="none" style="stroke:var(--c4)" cx="{place[0]:.0f}" cy="{place[1]:.0f}" r="11"/>'
    dot = f'<circle style="fill:{colour}" cx="{place[0]:.0f}" cy="{place[1]:.0f}" r="7">{tip}</circle>'
    out = 1 + 20 / (SIZE / 2 - 40)
    x, y = (SIZE / 2 + (value - SIZE / 2) * out for value in place)
    return f"{ring if moved else ''}{dot}{text_at(x, y + 4, broker, 'tick', 'middle')}"


# ---------------------------------------------------------------- the steps


def steps(table: pandas.DataFrame) -> Drawn | None:
    """One row per reconfiguration: how long each step took, one after the other."""
    begun = table[table.version.notna()].sort_values("time_s")
    if not len(begun):
        return None
    whole = max(sum(_lengths(row)) for _, row in begun.iterrows()) or 1.0
    axis = Axis("since the decision (ms)", 0, whole)
    parts = [_legend()]
    for index, (_, row) in enumerate(begun.iterrows()):
        parts.append(_row(row, 36 + index * ROW, axis.high))
    height = 36 + len(begun) * ROW + 34
    for tick in axis.ticks:
        x = _x(tick, axis.high)
        parts.append(text_at(x, height - 20, f"{tick:g}", "tick", "middle"))
    parts.append(text_at(WIDE / 2, height - 4, axis.label, "label", "middle"))
    longest = begun.duration_us.astype(float).max()
    text = f"{len(begun)} begun, the longest took {span(longest / 1e3)}. Each step waits for all brokers."
    numbers = begun[["version", "outcome", *(f"{step}_us" for step in STEPS)]].reset_index(drop=True)
    headings = {"version": "version", "outcome": "outcome"} | {f"{step}_us": f"{step} (us)" for step in STEPS}
    title = "Steps of the reconfigurations"
    return Drawn(title, text, wrap(title, text, height, "".join(parts), WIDE), numbers, headings)


def _lengths(row: pandas.Series) -> list[float]:
    return [0.0 if pandas.isna(row[f"{step}_us"]) else float(row[f"{step}_us"]) / 1e3 for step in STEPS]


def _x(ms: float, whole: float) -> float:
    return LEFT + ms / whole * (WIDE - LEFT - 30)


def _row(row: pandas.Series, top: float, whole: float) -> str:
    name = f"version {int(row.version)}"
    parts, begin = [text_at(6, top + 16, name, "label")], 0.0
    for index, (step, ms) in enumerate(zip(STEPS, _lengths(row), strict=True)):
        left, right = _x(begin, whole), _x(begin + ms, whole)
        tip = f"<title>{escape(f'{step}: {span(ms)}')}</title>"
        box = f'x="{left:.1f}" y="{top:.0f}" width="{max(right - left, 0.5):.1f}" height="{ROW - 12}"'
        parts.append(f'<rect style="fill:{COLOURS[index % len(COLOURS)]}" {box}>{tip}</rect>')
        begin += ms
    if row.outcome != "done":
        parts.append(text_at(_x(begin, whole) + 8, top + 16, str(row.outcome), "label"))
    return "".join(parts)


def _legend() -> str:
    parts = []
    for index, step in enumerate(STEPS):
        x = LEFT + index * 120
        colour = COLOURS[index % len(COLOURS)]
        parts.append(f'<rect style="fill:{colour}" x="{x}" y="6" width="18" height="12"/>')
        parts.append(text_at(x + 24, 16, step, "label"))
    return "".join(parts)


# ---------------------------------------------------------------- handovers


def moves(handovers: pandas.DataFrame) -> Drawn | None:
    if not len(handovers):
        return None
    times = sorted(handovers.time_s.astype(float))
    last = max(times[-1], 1e-6)
    chart = Chart(
        "Clients that changed their broker", "", Axis("time (s)", 0, last), Axis("so far", 0, len(times))
    )
    chart.line([0.0, *times], [float(count) for count in range(len(times) + 1)], COLOURS[0])
    median = float(handovers.duration_us.median()) / 1e3
    text = (
        f"{len(times)} handovers of {handovers.client.nunique()} clients; half took at most {span(median)}."
    )
    chart.description = text
    to = handovers.groupby("target").size().sort_values(ascending=False).reset_index(name="clients")
    return Drawn(chart.title, text, chart.svg(), to, {"target": "to broker", "clients": "handovers"})
