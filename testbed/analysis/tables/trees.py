"""Topic trees over time, put together from what each broker said of its place in them; and handovers."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import pandas as pd

WINDOW_US = 10_000_000
COLUMNS = {
    "plane": "version of ring and trees",
    "topic": "topic",
    "time_s": "end of the window after which the tree looks so, s after the run's first event; one row per "
    "window in which it changed",
    "members": "brokers with an interest of their own",
    "relays": "unrelated relays: in the tree, neither root nor member",
    "depth": "overlay links from the root to the farthest broker",
    "root": "broker at which publications turn round; null = none, or several",
}
EDGE_COLUMNS = {
    "plane": "version of ring and trees",
    "topic": "topic",
    "parent": "broker",
    "child": "broker to which it passes publications, as the parent saw it when the run ended, or last in a "
    "version that was retired",
    "member": "whether the child had an interest of its own",
}
HANDOVER_COLUMNS = {
    "client": "client that changed its broker",
    "time_s": "when the new broker served it, s after the run's first event",
    "source": "old broker",
    "target": "new broker",
    "duration_us": "from the redirect until then, us; the old broker served it meanwhile",
    "items": "subscriptions and advertisements that moved",
}
KINDS = ("TREE_CHANGED", "HANDED_OVER")
GONE = ("kill", "leave", "stop", "restart")  # actions of the harness that end a broker
Rows = Iterable[dict[str, Any]]
Tree = tuple[int, str]  # plane, topic


class Place(NamedTuple):
    parent: str
    children: tuple[str, ...]
    root: bool
    subscribed: bool


class Forest:
    """All trees of a run at one moment."""

    def __init__(self) -> None:
        self.trees: dict[Tree, dict[str, Place]] = {}

    def take(self, row: dict[str, Any]) -> Tree:
        said = json.loads(row["content"])
        key = int(said["plane"]), str(row["message"])
        place = Place(row["peer"], tuple(said["children"]), said["root"], said["subscribed"])
        brokers = self.trees.setdefault(key, {})
        if place == ("", (), False, False):
            brokers.pop(row["node"], None)
        else:
            brokers[row["node"]] = place
        return key

    def gone(self, broker: str) -> list[Tree]:
        """It has no place in any tree any more."""
        return [key for key, brokers in self.trees.items() if brokers.pop(broker, None) is not None]

    def shape(self, key: Tree) -> tuple[int, int, int, str | None]:
        """Members, relays, depth and root."""
        brokers = self.trees[key]
        roots = sorted(name for name, place in brokers.items() if place.root)
        members = sum(place.subscribed for place in brokers.values())
        relays = sum(not place.subscribed and not place.root for place in brokers.values())
        return members, relays, depth(brokers, roots), roots[0] if len(roots) == 1 else None


def depth(brokers: dict[str, Place], roots: list[str]) -> int:
    """By the children; whoever was seen before, while a tree changes, is not followed again."""
    level, seen, far = set(roots), set(roots), 0
    while True:
        below = {c for name in level if name in brokers for c in brokers[name].children} - seen
        if not below:
            return far
        level, seen, far = below, seen | below, far + 1


def replayed(rows: Rows, ends: list[tuple[int, str]]) -> Iterator[tuple[int, list[Tree], Forest]]:
    """Time, the trees that changed, and all of them; `ends`: when a broker was gone."""
    forest, told = Forest(), [(row["t_us"], 1, row) for row in rows]
    for at, order, what in sorted([*told, *((at, 0, {"node": broker}) for at, broker in ends)], key=_when):
        yield at, forest.gone(what["node"]) if order == 0 else [forest.take(what)], forest


def _when(entry: tuple[int, int, dict[str, Any]]) -> tuple[int, int, int]:
    return entry[0], entry[1], int(entry[2].get("n", 0))


def ends_of(rare: Rows, brokers: set[str]) -> list[tuple[int, str]]:
    """When brokers were killed, crashed or stopped during the run."""
    found = []
    for event in rare:
        kind, detail = event["kind"], str(event["detail"] or "")
        if kind == "RUN_ENDED":
            break
        named = detail.split()[0] if detail else event["node"]
        is_end = kind == "CRASHED" or (kind == "FAULT_STARTED" and event["type"] in GONE)
        if is_end and named in brokers:
            found.append((int(event["t_us"]), named))
    return found


def trees(rows: Rows, ends: list[tuple[int, str]], first_us: int, ended_us: int) -> tuple[Any, Any]:
    """The tables `trees` and `tree_edges` of one run, without the column `run`."""
    shapes: dict[tuple[int, Tree], tuple[int, int, int, str | None]] = {}
    edges: list[tuple[int, str, str, str, bool]] = []
    forest = Forest()
    in_time = [row for row in rows if row["t_us"] < ended_us]  # while brokers stop they leave their trees
    for at, changed, forest in replayed(in_time, ends):
        window = max(0, at - first_us) // WINDOW_US + 1
        shapes |= {(window, key): forest.shape(key) for key in changed}
    for (plane, topic), brokers in sorted(forest.trees.items()):
        for name, place in sorted(brokers.items()):
            edges += [
                (plane, topic, name, child, bool(child in brokers and brokers[child].subscribed))
                for child in place.children
            ]
    listed = [
        (plane, topic, window * (WINDOW_US // 1_000_000), *shape)
        for (window, (plane, topic)), shape in shapes.items()
    ]
    return pd.DataFrame(listed, columns=list(COLUMNS)), pd.DataFrame(edges, columns=list(EDGE_COLUMNS))


def handovers(rows: Rows, first_us: int) -> pd.DataFrame:
    found = [
        (
            row["node"],
            (row["t_us"] - first_us) / 1e6,
            row["detail"],
            row["peer"],
            int(row["duration_us"]),
            len(json.loads(row["content"] or "{}")),
        )
        for row in rows
    ]
    return pd.DataFrame(found, columns=list(HANDOVER_COLUMNS))
