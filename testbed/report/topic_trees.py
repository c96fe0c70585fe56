"""Topic trees on a run's page: the tree of a chosen topic, the same tree on its ring, what it costs to carry
publications over brokers that have no use for them, and what ring and trees cost to keep."""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass
from html import escape

import pandas

from protos.purposes import is_data
from testbed.report.charts import WIDE, Drawn, natural
from testbed.report.svg import COLOURS, DASHES, Axis, Chart, text_at, wrap

TOPICS_SHOWN = 24
NAMES_UP_TO = 140
SIDE, LEVEL, EDGE = 640, 74, 44
CIRCLE = 1 << 64
LOOKS = {"root": "var(--c2)", "member": "var(--c1)", "relay": "var(--c4)", "other": "var(--soft)"}
WORDS = {"root": "root", "member": "with an interest", "relay": "unrelated relay", "other": "not in the tree"}
RELAYS = {"relays_to_root": "on the way to the root", "relays_in_tree": "in the tree"}
Point = tuple[float, float]
Places = dict[str, Point]


@dataclass(frozen=True)
class Tree:
    """One topic in one plane when the run ended."""

    plane: int
    topic: str
    root: str
    children: dict[str, list[str]]
    members: frozenset[str]

    @property
    def edges(self) -> list[tuple[str, str]]:
        return [(parent, child) for parent, below in sorted(self.children.items()) for child in below]

    @property
    def brokers(self) -> list[str]:
        return sorted({self.root, *self.members, *(end for edge in self.edges for end in edge)}, key=natural)

    def role(self, broker: str) -> str:
        if broker == self.root:
            return "root"
        if broker in self.members:
            return "member"
        return "relay" if broker in self.brokers else "other"

    @property
    def name(self) -> str:
        return self.topic if not self.plane else f"{self.topic} (plane {self.plane})"


def trees_of(shapes: pandas.DataFrame, edges: pandas.DataFrame) -> list[Tree]:
    """The largest first. A tree with several roots, or none, when the run ended has no one picture."""
    last = shapes.sort_values("time_s", kind="stable").groupby(["plane", "topic"]).last()
    found = []
    for (plane, topic), rows in edges.groupby(["plane", "topic"]):
        root = last.root.get((plane, topic))
        if isinstance(root, str) and root:
            children: dict[str, list[str]] = defaultdict(list)
            for row in rows.itertuples():
                children[row.parent].append(row.child)
            members = frozenset(rows[rows.member.astype(bool)].child)
            found.append(Tree(int(plane), str(topic), root, dict(children), members))
    found.sort(key=lambda tree: (-len(tree.edges), tree.plane, natural(tree.topic)))
    return found[:TOPICS_SHOWN]


# ---------------------------------------------------------------- the tree


def tree_picture(tree: Tree) -> Drawn:
    """Levels by hops from the root; a parent stands over the middle of its children."""
    places = levels(tree)
    depth = max((y for _, y in places.values()), default=0.0)
    height = int(depth + EDGE + 34)
    relays = sum(tree.role(broker) == "relay" for broker in tree.brokers)
    text = (
        f"{len(places)} brokers, {len(tree.members)} below the root with an interest of their own, "
        f"{relays} unrelated relays, depth {round((depth - EDGE) / LEVEL)}; root {tree.root}."
    )
    lines = "".join(_line(places[a], places[b]) for a, b in tree.edges if a in places and b in places)
    title = f"Tree of {tree.name}"
    legend = _legend(height, ("root", "member", "relay"))
    drawing = wrap(title, text, height, lines + _nodes(tree, places) + legend)
    numbers = pandas.DataFrame(tree.edges, columns=["parent", "child"])
    return Drawn(title, text, drawing, numbers, {"parent": "parent", "child": "child"})


def levels(tree: Tree) -> Places:
    """Whoever was met before is not followed again: a tree that was changing may have a circle."""
    at: dict[str, float] = {}
    depth = {tree.root: 0}
    leaves = 0

    def place(broker: str) -> float:
        nonlocal leaves
        below = []
        for child in sorted(tree.children.get(broker, ()), key=natural):
            if child not in depth:
                depth[child] = depth[broker] + 1
                below.append(place(child))
        if not below:
            leaves += 1
            below = [float(leaves)]
        at[broker] = sum(below) / len(below)
        return at[broker]

    place(tree.root)
    room = (SIDE - 2 * EDGE) / max(1, leaves - 1)
    only = leaves == 1
    return {
        name: (SIDE / 2 if only else EDGE + (x - 1) * room, float(EDGE + LEVEL * depth[name]))
        for name, x in at.items()
    }


# ---------------------------------------------------------------- the ring


def ring_of(changes: pandas.DataFrame, plane: int) -> dict[str, int]:
    """Broker -> id, of those that were in the ring when the run ended."""
    ids: dict[str, int] = {}
    there: set[str] = set()
    for row in changes[changes.plane == plane].sort_values("time_s", kind="stable").itertuples():
        ids[row.broker] = int(row.id, 16)
        (there.discard if row.change == "left" else there.add)(row.broker)
        if row.change == "out":
            there.discard(row.peer)
        elif row.change.endswith(" in"):
            there.add(row.peer)
    return {broker: ids[broker] for broker in sorted(there & ids.keys(), key=natural)}


def ring_picture(tree: Tree, ring: dict[str, int]) -> Drawn:
    """Ids grow clockwise from the top; the links are the tree's."""
    middle, radius = SIDE / 2, SIDE / 2 - EDGE
    places = {name: _on_circle(place, middle, radius) for name, place in ring.items()}
    text = (
        f"{len(ring)} brokers by their ids, clockwise from 0 at the top; the links are those of {tree.name}."
    )
    circle = f'<circle class="grid" fill="none" cx="{middle}" cy="{middle}" r="{radius}"/>'
    lines = "".join(_line(places[a], places[b]) for a, b in tree.edges if a in places and b in places)
    title = f"Ring, with the tree of {tree.name}"
    content = circle + lines + _nodes(tree, places, middle) + _legend(SIDE + 20, tuple(LOOKS))
    rows = [(name, f"{place:016x}", WORDS[tree.role(name)]) for name, place in ring.items()]
    numbers = pandas.DataFrame(sorted(rows, key=lambda row: row[1]), columns=["broker", "id", "role"])
    headings = {"broker": "broker", "id": "id", "role": "in this tree"}
    return Drawn(title, text, wrap(title, text, SIDE + 20, content), numbers, headings)


def _on_circle(place: int, middle: float, radius: float) -> Point:
    turn = 2 * math.pi * place / CIRCLE
    return middle + radius * math.sin(turn), middle - radius * math.cos(turn)


def _line(a: Point, b: Point) -> str:
    return f'<line class="wire" x1="{a[0]:.1f}" y1="{a[1]:.1f}" x2="{b[0]:.1f}" y2="{b[1]:.1f}"/>'


def _nodes(tree: Tree, places: Places, middle: float = 0.0) -> str:
    """Names stand above, or, round the `middle` of a ring, outside."""
    named = len(places) <= NAMES_UP_TO
    small = ' style="font-size:.72em"' if len(places) > 40 else ""
    dots, names = [], []
    for broker, (x, y) in places.items():
        role = tree.role(broker)
        size = 4 if role == "other" else 6
        tip = f"<title>{escape(f'{broker}: {WORDS[role]}')}</title>"
        dots.append(f'<circle style="fill:{LOOKS[role]}" cx="{x:.1f}" cy="{y:.1f}" r="{size}">{tip}</circle>')
        if named:
            x, y = _outside(x, y, middle) if middle else (x, y - size - 3)
            names.append(text_at(x, y, broker, "label", "middle"))
    return f'<g class="nodes">{"".join(dots)}</g><g{small}>{"".join(names)}</g>'


def _outside(x: float, y: float, middle: float) -> Point:
    far = math.hypot(x - middle, y - middle) or 1.0
    return x + 22 * (x - middle) / far, y + 16 * (y - middle) / far + 4


def _legend(bottom: int, roles: tuple[str, ...]) -> str:
    parts, x = [], 16.0
    for role in roles:
        parts.append(f'<circle style="fill:{LOOKS[role]}" cx="{x:.0f}" cy="{bottom - 12}" r="5"/>')
        parts.append(text_at(x + 10, bottom - 8, WORDS[role], "label"))
        x += 34 + 7.6 * len(WORDS[role])
    return "".join(parts)


# ---------------------------------------------------------------- what it costs


def relays(distribution: pandas.DataFrame) -> Drawn | None:
    """Per publication: brokers that carried it and had no use for it."""
    frame = distribution[distribution.measure.isin(RELAYS)].sort_values(["measure", "hops"])
    if not len(frame):
        return None
    most, top = int(frame.hops.max()), float(frame.share.max())
    means = {m: (rows.hops * rows.share).sum() for m, rows in frame.groupby("measure")}
    said = ", ".join(f"{means[measure]:.2f} {word}" for measure, word in RELAYS.items() if measure in means)
    text = f"Brokers that carried a publication and had no use for it, on average: {said}."
    ticks = [float(h) for h in range(most + 1)]
    axes = Axis("relays", -0.6, most + 0.6, ticks), Axis("share of publications", 0, top)
    chart = Chart("Relays per publication", text, *axes)
    for at, (measure, word) in enumerate(RELAYS.items()):
        for row in frame[frame.measure == measure].itertuples():
            left = row.hops - 0.4 + 0.4 * at
            chart.bar(left, left + 0.4, row.share, COLOURS[at], f"{row.hops} {word}: {100 * row.share:.1f} %")
        chart.legend.append((word, COLOURS[at], ""))
    numbers = frame.assign(where=frame.measure.map(RELAYS))
    headings = {"where": "where", "hops": "relays", "count": "publications", "share": "share"}
    return Drawn("Relays per publication", text, chart.svg(), numbers, headings)


def maintenance(purposes: pandas.DataFrame) -> Drawn | None:
    """Messages between brokers that carry no publication, by what they are for."""
    frame = purposes[(purposes.link == "overlay") & ~purposes.purpose.map(is_data)]
    if not len(frame):
        return None
    sums = frame.pivot_table(
        index="window_s", columns="purpose", values="messages", aggfunc="sum", fill_value=0
    )
    step = 10.0
    wanted = [step * n for n in range(int(sums.index.max() / step) + 1)]
    sums = sums.reindex(wanted, fill_value=0)
    order = sums.sum().sort_values(ascending=False)
    text = "Messages between brokers that carry no publication: " + ", ".join(
        f"{purpose} {count:,.0f}" for purpose, count in order.items()
    )
    rates = sums / step
    end = float(sums.index.max() + step)
    top = float(rates.to_numpy().max())
    chart = Chart(
        "Maintenance over time",
        text + ".",
        Axis("run time (s)", 0, end),
        Axis("messages per second", 0, top),
        height=280,
        width=WIDE,
    )
    for at, purpose in enumerate(order.index[: len(COLOURS)]):
        xs = [x for start in rates.index for x in (float(start), float(start) + step)]
        ys = [float(y) for rate in rates[purpose] for y in (rate, rate)]
        chart.line(xs, ys, COLOURS[at], str(purpose), DASHES[at])
    numbers = sums.reset_index()
    headings = {"window_s": "from (s)"} | {str(name): str(name) for name in order.index}
    return Drawn("Maintenance over time", text + ".", chart.svg(), numbers, headings)
